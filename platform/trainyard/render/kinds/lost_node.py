"""The cost of one lost node to a run: work that is done again, time that its GPUs wait, and who takes its place."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import count_of
from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.behaviour import MOVES
from trainyard.render.sizing import saving
from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.restarts import losses

SILENT = 350
"""Seconds until Kubernetes deletes pods of a node that does not answer: 50 until it is NotReady, 300 of the toleration.

kubernetes v1.35.4 pkg/controller/nodelifecycle/config/v1alpha1/defaults.go,
plugin/pkg/admission/defaulttolerationseconds.
"""

ALL, PERSON = "all work since the start", "until a person acts"
"""Costs that are no numbers."""

FORCED = 60
"""Seconds after the grace period until Kueue deletes them for good (kueue v0.19.2 pkg/controller/failurerecovery)."""


def facts(run: Resolved, *, forced: bool) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the costs of one lost node; nothing for runs without GPUs, or of independent copies.

    `forced` says whether Kueue deletes the pods of a node that does not answer.
    """
    gpus = sum(role.pods * role.size.gpus.value for role in run.roles)
    if not gpus or run.run.job.array is not None:
        return
    lost = losses(run.run, run.specs)
    expected = f"expected lost nodes: {lost.count:.2g} = {lost.words}"
    yield "lost_node.work", work(run, gpus, expected)
    yield "lost_node.silent", silence(run, gpus, forced=forced)
    yield from failing(run)
    yield from faulty(run)
    for name in sorted({role.pool_name for role in run.specs}):
        pool = run.run.cluster.pools[name]
        free = f"quotas leave {count_of(pool.spares, 'node')} free" if pool.spares else "quotas leave no node free"
        value = count_of(pool.spares, "node") if pool.spares else "none"
        yield f"lost_node.spares.{name}", Sized(value, f"{free}: spares of pool {name}")


def silence(run: Resolved, gpus: int, *, forced: bool) -> Sized[str]:
    """Return the time of GPUs that wait for a node that does not answer, until its pods are deleted."""
    if not forced:
        return Sized(PERSON, "nothing deletes the pods of a node that does not answer")
    grace = run.sizing.grace.value
    wait = SILENT + grace + FORCED
    how = f"{count_of(gpus, 'GPU')} × {wait} seconds = {SILENT} of Kubernetes + {grace} of grace + {FORCED} of Kueue"
    return Sized(hours(gpus * wait / 3600), how)


def failing(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield that one lost node ends the run for good, where a pod that is deleted while it runs does so.

    Only where no node is free does Kueue queue the run again before its operator sees the deleted pod (asked of a real
    cluster, docs/lost-nodes.md).
    """
    if roles := [role.name for role in run.specs if role.name in run.kind.mortal]:
        how = f"kind {run.kind.name}: a pod of {', '.join(roles)} that is deleted while it runs fails the run"
        yield "lost_node.run", Sized("fails for good", how)


def faulty(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield whether the run leaves a node that gets the taint of a fault; nothing where no node is watched."""
    health = run.run.cluster.health
    if health is None:
        return
    if health.effect == "NoExecute":
        yield "lost_node.faulty", Sized("moves", "effect NoExecute of health ends its pods on the node at once")
        return
    moves = run.kind.behaviour.faulty == MOVES
    yield "lost_node.faulty", Sized("moves" if moves else "stays", f"kind {run.kind.name}: {run.kind.behaviour.faulty}")


def hours(count: float) -> str:
    """Return GPU-hours in words, without an exponent where there are thousands."""
    return f"{count:,.0f} GPU-hours" if count >= 100 else f"{count:.3g} GPU-hours"


def work(run: Resolved, gpus: int, expected: str) -> Sized[str]:
    """Return the work that is done again after a lost node, at most."""
    lost = saving.lost_minutes(run.run)
    if lost is None:
        return Sized(ALL, f"the job has no checkpoint; {expected}")
    return Sized(
        f"at most {hours(gpus * lost.value / 60)}",
        f"{count_of(gpus, 'GPU')} × {lost.value} minutes of {lost.origin}; {expected}",
    )
