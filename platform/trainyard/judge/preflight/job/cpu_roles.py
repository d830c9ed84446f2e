"""Whether roles without GPUs take nodes with GPUs, where their queue has others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.size import Pods, amount
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.gpus import offered_gpus
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.roles import number
from trainyard.specs.models.pools import Pool, Slack

CPU_ROLE = Rule(
    id="run/cpu-role",
    title="A large role without GPUs is on a pool without GPUs.",
    why="it takes CPUs and memory of a node whose GPUs then stay idle: workers of a whole node no longer fit there",
    fix="set pool of the role: to one without GPUs, or to the same pool if it has to be near the workers",
    source="docs/jobs.md; docs/decisions/slack-of-nodes.md",
    layer="run",
    severity=Severity.WARNING,
)

SMALL = Slack(cpus=8, memory="64Gi")
"""What a head or a launcher may have that nobody moves."""

Amounts = Mapping[str, Decimal] | Mapping[str, Fraction]


@RESOLVED.check(after=("size.check_pods",))
def check(run: Resolved) -> Iterator[Finding]:
    """Yield roles without GPUs on a pool with GPUs that none of them names, and that find no room beside the others."""
    pods = [Pods.of(run, spec, sized) for spec, sized in zip(run.specs, run.sizing.roles, strict=True)]
    for pod in pods:
        role = pod.role
        if role.gpus or role.why or not role.field or not role.anywhere or not offered_gpus(role.pool):
            continue
        beside = (other for other in pods if other.role.gpus and other.role.pool_name == role.pool_name)
        if is_small(pod, role.pool) or any(has_room(other, pod.asks) for other in beside):
            continue
        pool = next(without_gpus(run, pod.asks), None)
        if pool is not None:
            cpus = number(Fraction(pod.asks["cpu"]))
            message = f"role {role.name!r} has no GPUs, but takes {cpus} CPUs of a GPU node of pool {role.pool_name!r}"
            yield CPU_ROLE.at(run.run.source, ("roles", role.name), f"{message}; set pool: {pool}")


def is_small(pod: Pods, pool: Pool) -> bool:
    """Whether a pod fits what the pool's nodes leave to such pods, or is as small as a head."""
    return any(
        pod.asks["cpu"] <= slack.cpus and pod.asks["memory"] <= amount(slack.memory)
        for slack in (pool.slack or Slack(), SMALL)
    )


def has_room(workers: Pods, asks: Amounts) -> bool:
    """Whether a node that is full of workers has room for a pod."""
    left = {name: has - Fraction(workers.asks.get(name, 0)) * workers.room for name, has in workers.node.items()}
    return fits(asks, left)


def fits(asks: Amounts, has: Amounts) -> bool:
    """Whether a pod's CPUs and memory are there."""
    return all(Fraction(asks.get(name, 0)) <= Fraction(has.get(name, 0)) for name in ("cpu", "memory"))


def without_gpus(run: Resolved, asks: Amounts) -> Iterator[str]:
    """Yield the pools of the job's queue whose nodes have no GPUs, and room for such a pod."""
    cluster = run.run.cluster
    queue = cluster.queues.get(run.run.job.queue)
    for name in queue.nominal_quota if queue is not None else ():
        pool = cluster.pools.get(name)
        if pool is not None and pool.node.gpus is None and fits(asks, machine(cluster, name).for_jobs):
            yield name
