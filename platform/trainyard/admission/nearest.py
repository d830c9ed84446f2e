"""The nearest changes with which a job that never fits would fit, alone on its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from trainyard.admission.asks import Ask, changed
from trainyard.admission.bid import shape_of
from trainyard.admission.crowd import Crowd
from trainyard.admission.outcomes import holds
from trainyard.preflight.jobs import check_run
from trainyard.sizing.node import GI, size

MOST = 3
"""Changes that are named."""


def change(ask: Ask, crowd: Crowd, why: str) -> str:
    """Return changes of one field each in words, to stand behind the reason; empty where none of them would do."""
    key = shape_of(ask)
    if key not in crowd.nearest:
        found = list(islice(changes(Try(ask, crowd), why), MOST))
        crowd.nearest[key] = f"; {' fits, '.join(found)} fits" if found else ""
    return crowd.nearest[key]


class Try:
    """A job, and whether it would fit with other values of its fields."""

    def __init__(self, ask: Ask, crowd: Crowd) -> None:
        self.ask, self.crowd = ask, crowd
        self.job = ask.file.job

    def fits(self, **fields: Any) -> bool:
        """Whether it gets quota on the empty cluster, and nodes."""
        other = changed(self.ask, self.crowd.where, fields)
        if other is None or other.why:
            return False
        mine = self.crowd.alone(other).said
        if not mine or not all(map(holds, mine)):
            return False
        fit = self.crowd.empty.alone(other, mine)
        return not fit.missing and fit.otherwise is None

    def valid(self, **fields: Any) -> bool:
        """Whether nothing else would be wrong with it then."""
        assert self.ask.run is not None
        run = replace(self.ask.run.run, job=self.job.model_copy(update=fields))
        return not any(each.is_error for each in check_run(run)[1])

    def most(self, field: str, high: int, value: Callable[[int], Any] = int) -> int:
        """Return the most of a number below another one with which it fits; 0 for none."""
        low = 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(**{field: value(middle)}) else (low, middle)
        return low if low and self.valid(**{field: value(low)}) else 0


def changes(job: Try, why: str) -> Iterator[str]:
    """Yield changes that would do, those of the job's size before those of its place; `why` is what fails now."""
    spec = job.job
    if spec.min_nodes is not None and (least := job.most("min_nodes", spec.min_nodes)):
        yield f"minNodes: {least}"
    if least := job.most("nodes", spec.nodes):
        yield f"nodes: {least}"
    yield from shares(job, why)
    if least := job.most("gpus_per_node", spec.gpus_per_node):
        yield f"gpusPerNode: {least}"
    yield from places(job)


def shares(job: Try, why: str) -> Iterator[str]:
    """Yield fewer CPUs and less memory of a pod where the job says how much, and these are what is short."""
    cpus, memory = job.job.cpus_per_node, job.job.memory_per_node
    if cpus is not None and "cpu" in why and (least := job.most("cpus_per_node", cpus)):
        yield f"cpusPerNode: {least}"
    if memory is not None and "memory" in why:
        least = job.most("memory_per_node", -(-size(memory) // GI), lambda count: f"{count}Gi")
        if least:
            yield f"memoryPerNode: {least}Gi"


def places(job: Try) -> Iterator[str]:
    """Yield other queues of the team, and other pools of the queue."""
    spec, cluster = job.job, job.crowd.where.cluster
    pools = {spec.pool, *(role.pool for role in spec.roles.values() if role.pool)}
    for name, queue in cluster.queues_of("kueue").items():
        mine = job.ask.file.team in queue.teams and pools <= set(queue.nominal_quota)
        if name != spec.queue and mine and job.fits(queue=name) and job.valid(queue=name):
            yield f"queue: {name}"
    for name in cluster.queues[spec.queue].nominal_quota if spec.queue in cluster.queues else ():
        if name != spec.pool and name in cluster.pools and job.fits(pool=name) and job.valid(pool=name):
            yield f"pool: {name}"
