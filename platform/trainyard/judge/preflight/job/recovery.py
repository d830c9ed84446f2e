"""Whether runs get over lost nodes: Kueue forces dead pods out, and leaves jobs that may shrink alone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import duration_text
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.operators.kueue import Kueue, short_of_pods
from trainyard.render.sizing.restarts import MONTH, losses

BUDGET = Rule(
    id="ft-maxrestarts-budget",
    title="A run may restart as often as it is likely to lose nodes.",
    why="otherwise it fails for good before its deadline; a drain may count as a loss",
    fix="raise restarts, or remove it: the default follows from nodes and hours",
    source="docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)
UNSAVED = Rule(
    id="ckp-interval",
    title="A run saves more often than it is likely to lose a node.",
    why="every loss repeats the work since the last save, so the run may never end",
    fix="give the job a checkpoint, or save more often",
    source="docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)
MORTAL = Rule(
    id="ft-drain-mortal",
    title="A run that fails for good when a pod is drained rarely loses nodes.",
    why="the training operator counts a pod deleted while running as failed, whatever restarts says",
    fix="use a kind that restarts, such as JobSet, or nodes that are not spot; or waive this",
    source="training-operator v1.9.4 pkg/core/status.go UpdateJobReplicaStatuses, UpdateJobStatus of each kind",
    layer="run",
    severity=Severity.WARNING,
)
SHRUNK = Rule(
    id="kq-recovery-elastic",
    title="Jobs with minNodes run where Kueue does not stop jobs that lack pods.",
    why=(
        "Kueue counts a job with fewer nodes as not ready, so it stops and requeues the job, and minNodes has no effect"
    ),
    fix="remove minNodes, or set recoveryMinutes: 0 in the cluster's file",
    source="kueue v0.19.2 pkg/controller/jobs/job/job_controller.go, pkg/controller/core/workload_controller.go",
    layer="queueing",
)

STARTS_WHOLE = Rule(
    id="kq-start-elastic",
    title="An elastic job starts where all its nodes come at first.",
    why="Kueue evicts a job, again and again, until all its pods were ready once; only then minNodes has an effect",
    fix="ask for as many nodes as surely come, or waive this if all of them come at some time",
    source="kueue v0.19.2 pkg/controller/jobs/job/job_controller.go, pkg/controller/core/workload_controller.go",
    layer="queueing",
    severity=Severity.WARNING,
)
STRANDED = Rule(
    id="kq-recovery-fixed",
    title="A job of fixed size on spot nodes is queued again when a node is lost and none comes.",
    why=(
        "where recoveryMinutes is 0 its other ranks keep their quota and wait; each time they give up costs a restart"
    ),
    fix="add minNodes in a kind and launcher that shrink, or set recoveryMinutes if no job of the cluster has minNodes",
    source="kueue v0.19.2 pkg/controller/core/core.go waitForPodsReady, pkg/controller/core/workload_controller.go",
    layer="queueing",
    severity=Severity.WARNING,
)

RARELY = 0.1
"""Nodes that a run may lose on average where nobody is warned: about one run in ten loses one."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield a job that gives up before its deadline or at a drain, or that Kueue stops when it lacks nodes."""
    yield from check_budget(run)
    yield from check_mortal(run)
    yield from check_saves(run)
    yield from check_shrinks(run)
    yield from check_stranded(run)


def can_shrink(run: Resolved) -> bool:
    """Whether a run goes on with fewer nodes than it asks for."""
    least = run.run.job.min_nodes
    fewer = least is not None and least < run.run.job.nodes
    return fewer and run.launcher.elastic and "elastic" in run.kind.gives


def is_watched(run: Resolved) -> bool:
    """Whether Kueue counts a run as ready only when all of its pods are."""
    cluster = run.run.cluster
    return run.kind.admitted_by(cluster) == "kueue" and run.kind.waits_for_all and Kueue.name in cluster.operators


def check_stranded(run: Resolved) -> Iterator[Finding]:
    """Yield a run of several nodes that needs all of them, some of them spot, where Kueue never queues it again.

    Pods of an array do not wait for each other, and a single one loses nobody's time.
    """
    job, several = run.run.job, sum(role.nodes for role in run.specs if role.ranks) > 1
    spot = next((role.pool_name for role in run.specs if role.pool.spot), None)
    if spot is None or not several or job.array is not None or can_shrink(run) or not is_watched(run):
        return
    if not short_of_pods(run.run.cluster):
        message = f"pool {spot!r} is spot, but Kueue requeues no job after a lost node; add minNodes, or waive this"
        yield STRANDED.at(run.run.source, ("spot",), message)


def check_shrinks(run: Resolved) -> Iterator[Finding]:
    """Yield a job that Kueue stops when it shrinks, or when spot or coming nodes are too few for its first start.

    Nodes that Kueue asks for by a request come all at once, so that none is missing at the start.
    """
    job, cluster = run.run.job, run.run.cluster
    if not can_shrink(run) or not is_watched(run):
        return
    left, first = short_of_pods(cluster), short_of_pods(cluster, start=True)
    if left:
        message = (
            f"minNodes is {job.min_nodes}, but Kueue of {run.run.cluster_name!r} evicts jobs that lack pods for "
            f"{duration_text(left)}; remove minNodes, or set recoveryMinutes: 0"
        )
        yield SHRUNK.at(run.run.source, ("minNodes",), message)
    elif first and any(role.pool.spot or (role.pool.scales and role.pool.provisioning is None) for role in run.specs):
        message = (
            f"minNodes counts only after all {job.nodes} nodes were ready within {duration_text(first)}; "
            "lower nodes, or waive this"
        )
        yield STARTS_WHOLE.at(run.run.source, ("minNodes",), message)


def check_budget(run: Resolved) -> Iterator[Finding]:
    """Yield fewer restarts than a run loses nodes on average until its deadline, or in a month on spot nodes.

    None at all are meant so where nodes are rarely lost.
    """
    job = run.run.job
    spot = next((role.pool_name for role in run.specs if role.pool.spot), None)
    if job.restarts is None or (job.restarts == 0 and spot is None) or (job.max_hours is None and spot is None):
        return
    lost = losses(run.run, run.specs)
    message = ""
    if job.restarts == 0 and job.min_nodes is None and lost.count > RARELY:
        message = f"restarts is 0, but nodes of pool {spot!r} are spot, and the first that is taken may end the job"
        message += "; remove restarts"
    elif lost.count > job.restarts > 0:
        message = f"restarts is {job.restarts}, but the job may lose {lost.count:.2g} nodes ({lost.words})"
        message += "; raise or remove restarts"
    if message:
        yield BUDGET.at(run.run.source, ("restarts",), message)


def check_saves(run: Resolved) -> Iterator[Finding]:
    """Yield a run on spot nodes that saves nothing though it will lose some, or any that saves less often than that."""
    job, source = run.run.job, run.run.source
    lost = losses(run.run, [role for role in run.specs if role.ranks])
    pods = lost.count / job.array.of if job.array is not None else lost.count
    if job.checkpoint is None:
        if job.spot and pods >= 1:
            message = f"the job saves no checkpoints, but may lose {pods:.2g} nodes ({lost.words}); add checkpoint"
            yield UNSAVED.at(source, ("spot",), message)
    elif pods > 0:
        between = (job.max_hours or MONTH) * 60 / pods
        if job.checkpoint.every_minutes > between:
            every = job.checkpoint.every_minutes
            message = f"everyMinutes is {every}, but a node is lost every {between:.0f} minutes; lower it"
            yield UNSAVED.at(source, ("checkpoint", "everyMinutes"), message)


def check_mortal(run: Resolved) -> Iterator[Finding]:
    """Yield a job that ends with a drained pod, on nodes that are likely to go; no restarts at all are meant so."""
    roles = [role for role in run.specs if role.name in run.kind.mortal]
    if not roles or run.run.job.restarts == 0:
        return
    spot = next((role for role in roles if role.pool.spot), None)
    lost = losses(run.run, roles)
    if spot is None and lost.count < 1:
        return
    why = f"{spot.name} is on spot nodes" if spot else f"the job may lose {lost.count:.2g} nodes ({lost.words})"
    message = f"a drained pod fails the {run.kind.name} for good, and {why}; use another kind, such as JobSet"
    yield MORTAL.at(run.run.source, ("kind",), message)
