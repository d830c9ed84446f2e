"""The nearest changes with which a job that never fits would fit, alone on its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from trainyard.base.limits import OTHER_PLACES
from trainyard.judge.admission.asks import Ask
from trainyard.judge.admission.change import Change, Path, one
from trainyard.judge.admission.cluster_jobs import Crowd
from trainyard.judge.admission.trials import Try
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.node import GI, size
from trainyard.specs import Scheduler
from trainyard.specs.run import pools_of

MOST = 3
"""Changes that are named."""


def nearest(ask: Ask, crowd: Crowd, why: str) -> tuple[Change, ...]:
    """Return changes that would do, the first ones; `why` is what fails now."""
    key = ask.shape
    if key not in crowd.nearest:
        crowd.nearest[key] = tuple(islice(changes(Try(ask, crowd), why), MOST)) if ask.run else ()
    return crowd.nearest[key]


def suggestion(found: tuple[Change, ...]) -> str:
    """Return changes in words, to stand behind a reason; empty where there are none."""
    return f"; it would fit with {' or '.join(' and '.join(change.fields()) for change in found)}" if found else ""


def changes(job: Try, why: str) -> Iterator[Change]:
    """Yield changes that would do: how many pods there are, how close, how large, and in which queue or pool."""
    yield from counts(job)
    yield from closeness(job)
    yield from shares(job, why)
    yield from job.most(1, job.job.gpus_per_node, lambda count: one("gpusPerNode", value=count))
    yield from places(job)


def counts(job: Try) -> Iterator[Change]:
    """Yield fewer pods."""
    spec = job.job
    if spec.array is not None:
        at_once = spec.array.parallel or spec.array.of
        yield from job.most(1, at_once, lambda count: one("array", "parallel", value=count))
    if spec.min_nodes is not None:
        yield from job.most(1, spec.min_nodes, lambda count: one("minNodes", value=count))
    yield from job.most(spec.min_nodes or 1, spec.nodes, lambda count: one("nodes", value=count))
    for name, role in spec.roles.items():
        yield from job.most(1, role.nodes, partial(count_of, name))


def count_of(role: str, count: int) -> Change:
    """Return so many pods of a role."""
    return one("roles", role, "nodes", value=count)


def closeness(job: Try) -> Iterator[Change]:
    """Yield a larger domain that all pods may share, and that they may be in several."""
    asked, levels = job.job.topology, list(job.crowd.where.cluster.levels)
    own = pools_of(job.job, job.crowd.where.cluster)
    pool = job.crowd.where.cluster.pools.get(own[0]) if own else None
    if asked is not None and asked.required in levels:
        wider = reversed(levels[: levels.index(asked.required)])
        yield from islice(job.would(*(one("topology", value={"required": level}) for level in wider)), 1)
    level = (asked.required if asked is not None else pool.nvlink if pool is not None else None) or ""
    if level in levels:
        yield from job.would(one("topology", value={"preferred": level}))


def shares(job: Try, why: str) -> Iterator[Change]:
    """Yield fewer CPUs and less memory of a pod, where these are what is short."""
    assert job.ask.run is not None
    for prefix, cpus, memory in sizes(job.ask.run):
        yield from of_pod(job, why, prefix, cpus, memory)


def sizes(run: Resolved) -> Iterator[tuple[Path, int, int]]:
    """Yield the path of each role's fields, its CPUs, and its memory in GiB, rounded up."""
    for index, role in enumerate(run.roles):
        prefix = () if index == 0 else ("roles", role.name)
        yield prefix, role.size.cpus.value, -(-size(role.size.memory.value) // GI)


def of_pod(job: Try, why: str, prefix: Path, cpus: int, memory: int) -> Iterator[Change]:
    """Yield fewer CPUs, less memory, or where neither does alone both, of the pods of a role."""

    def fewer(count: int) -> Change:
        return one(*prefix, "cpusPerNode", value=count)

    def less(count: int) -> Change:
        return one(*prefix, "memoryPerNode", value=f"{count}Gi")

    found = [
        *(job.most(1, cpus, fewer) if "cpu" in why else ()),
        *(job.most(1, memory, less) if "memory" in why else ()),
    ]
    yield from found
    both = Change((*fewer(1).values, *less(1).values))
    if not found and ("cpu" in why or "memory" in why) and job.fits(both):
        most = job.largest(1, cpus, lambda count: Change((*fewer(count).values, *less(1).values)))
        yield from job.most(1, memory, lambda count: Change((*fewer(most).values, *less(count).values)))


def places(job: Try) -> Iterator[Change]:
    """Yield other queues of the team, and other pools of the queue."""
    spec, cluster = job.job, job.crowd.where.cluster
    scheduler: Scheduler = "volcano" if job.ask.gang else "kueue"
    mine = pools_of(spec, cluster)
    pools = {*mine, *(role.pool for role in spec.roles.values() if role.pool)}
    others = (
        name
        for name, queue in cluster.queues_of(scheduler).items()
        if name != spec.queue and job.ask.file.team in queue.teams and pools <= set(queue.nominal_quota)
    )
    yield from job.would(*(one("queue", value=name) for name in islice(others, OTHER_PLACES)))
    own = cluster.queues[spec.queue].nominal_quota if spec.queue in cluster.queues else ()
    there = (name for name in own if name not in mine and name in cluster.pools)
    yield from job.would(*(one("pool", value=name) for name in islice(there, OTHER_PLACES)))
