"""Whether what a job spells out fits one node of its pool, and all its pods the pool; what is derived always fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from trainyard.documents import Path
from trainyard.quantities import Quantity
from trainyard.specs.models.cluster import Pool
from trainyard.specs.models.job import Job

Wrong = tuple[str, Path, str]
"""Rule, field and sentence."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What each of some equal pods spells out, and where in the job it says so."""

    place: Path
    pool: str
    nodes: int
    gpus: int
    cpus: int | None
    memory: str | None
    part: bool = False
    """Whether each asks for a part of a GPU, which is no whole one."""

    def at(self, field: str) -> Path:
        """Return the path of a field."""
        return (*self.place, field)


def asks(job: Job) -> Iterator[Ask]:
    """Yield what the workers ask for, then each role."""
    amounts = (job.gpus_per_node, job.cpus_per_node, job.memory_per_node)
    yield Ask((), job.pool, job.nodes, *amounts, part=job.gpu is not None)
    for name, role in job.roles.items():
        pool = role.pool or job.pool
        yield Ask(("roles", name), pool, role.nodes, role.gpus_per_node, role.cpus_per_node, role.memory_per_node)


def pools(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield the pools that a job names, with the fields."""
    yield job.pool, ("pool",)
    yield from ((role.pool, ("roles", name, "pool")) for name, role in job.roles.items() if role.pool)


def pods(job: Job) -> int:
    """Return how many pods a job has."""
    return job.nodes + sum(role.nodes for role in job.roles.values())


def check(ask: Ask, pool: Pool) -> Iterator[Wrong]:
    """Yield what does not fit: GPUs, CPUs and memory in a node, pods in the pool."""
    count = pool.node.gpus.count if pool.node.gpus else 0
    if ask.gpus > count:
        yield "gpus-per-node", ask.at("gpusPerNode"), too_many_gpus(ask, count)
        return
    cpus, memory = pool.node.free_cpus, pool.node.free_memory
    if ask.cpus is not None and ask.cpus > cpus:
        message = f"cpusPerNode is {ask.cpus}, but pool {ask.pool!r} has {cpus} a node for pods; lower it"
        yield "cpus-per-node", ask.at("cpusPerNode"), message
    if ask.memory is not None and amount(ask.memory) > memory:
        limit = f"{memory // 2**30}Gi"
        message = f"memoryPerNode is {ask.memory}, but pool {ask.pool!r} has {limit} a node for pods; lower it"
        yield "memory-per-node", ask.at("memoryPerNode"), message
    if count and not ask.gpus and not ask.part and ask.cpus is None and not ask.place:
        message = f"job asks for no GPU, but nodes of pool {ask.pool!r} have {count}; set gpusPerNode or cpusPerNode"
        yield "no-gpus", ("pool",), message
    each = per_node(ask, pool)
    if each and ask.nodes > each * pool.nodes:
        most = each * pool.nodes
        has = f"{pool.nodes} nodes" if each == 1 else f"{pool.nodes} nodes, each for {each} such pods"
        yield "nodes", ask.at("nodes"), f"nodes is {ask.nodes}, but pool {ask.pool!r} has {has}; ask for at most {most}"


def too_many_gpus(ask: Ask, count: int) -> str:
    """Return the sentence for more GPUs than a node has."""
    if not count:
        return f"gpusPerNode is {ask.gpus}, but pool {ask.pool!r} has no GPUs; remove it or choose another pool"
    *others, last = [str(number) for number in range(1, count + 1) if number & (number - 1) == 0 or number == count]
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"gpusPerNode is {ask.gpus}, but pool {ask.pool!r} has nodes of {count}; ask for {choices}"


def per_node(ask: Ask, pool: Pool) -> int:
    """Return how many such pods fit one node; at least those that are derived to fill a node fit once."""
    limits = []
    if ask.gpus and pool.node.gpus:
        limits.append(pool.node.gpus.count // ask.gpus)
    if ask.cpus is not None:
        limits.append(pool.node.free_cpus // ask.cpus)
    if ask.memory is not None and amount(ask.memory):
        limits.append(int(pool.node.free_memory // amount(ask.memory)))
    return min(limits, default=1)


def amount(quantity: str) -> Decimal:
    """Return a quantity as a number."""
    return Quantity.parse(quantity).amount
