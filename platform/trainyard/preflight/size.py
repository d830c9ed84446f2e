"""Whether the pods that a job asks for fit nodes of their pools, and all of them the pool; what is derived fits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.quantities import Quantity
from trainyard.rules import Rule
from trainyard.sizing import RoleSpec
from trainyard.sizing.node import available
from trainyard.specs.sources import Source

DOCS = "docs/jobs.md"
SCHEDULER = "kubernetes v1.35 pkg/scheduler/framework/plugins/noderesources/fit.go"

GPUS = Rule(
    id="spec/gpus-per-node",
    title="A pod asks for at most the GPUs of one node of its pool.",
    why="no node can take the pod, so it stays pending, and its quota with it",
    fix="ask for fewer GPUs a node, and more nodes",
    source=SCHEDULER,
)
CPUS = Rule(
    id="spec/cpus-per-node",
    title="A pod asks for at most the CPUs that one node of its pool has for pods.",
    why="no node can take the pod, so it stays pending, and its quota with it",
    fix="lower cpusPerNode, or leave it out: then it follows from the GPUs",
    source=SCHEDULER,
)
MEMORY = Rule(
    id="spec/memory-per-node",
    title="A pod asks for at most the memory that one node of its pool has for pods.",
    why="no node can take the pod, so it stays pending, and its quota with it",
    fix="lower memoryPerNode, or leave it out: then it follows from the GPUs",
    source=SCHEDULER,
)
NO_GPUS = Rule(
    id="spec/no-gpus",
    title="A job on nodes with GPUs says how many it wants, or how many CPUs.",
    why="it would take the CPUs of one GPU and leave the GPU to nobody",
    fix="set gpusPerNode, or cpusPerNode where it wants none",
    source=DOCS,
)
NODES = Rule(
    id="spec/nodes",
    title="A job asks for at most as many pods as its pool can hold.",
    why="a gang that is larger than the pool never starts as a whole",
    fix="ask for fewer nodes, or another pool",
    source=DOCS,
)
ROOM = Rule(
    id="run/implied-role",
    title="A role that the launcher implies finds room beside the workers.",
    why="its pod would be pending while all others wait for it",
    fix="give the role another pool, or leave it room: lower cpusPerNode, memoryPerNode or scratch",
    source=DOCS,
    layer="run",
)

FIELDS = {"cpu": "cpusPerNode", "memory": "memoryPerNode", "ephemeral-storage": "scratch"}
"""Fields of a job by the resources that they say."""


def check_role(role: RoleSpec, source: Source, *, part: bool) -> Iterator[Finding]:
    """Yield what does not fit: GPUs, CPUs and memory in a node, pods in the pool.

    `part` says that the worker asks for a part of a GPU, which is no whole one.
    """
    if role.implied:
        return
    count, gpus = available(role.pool).gpus, whole_gpus(role, part=part)
    if gpus > count:
        yield GPUS.at(source, (*role.path, "gpusPerNode"), too_many_gpus(role, count))
        return
    yield from check_amounts(role, source)
    if count and not role.gpus and role.cpus is None and not role.field:
        message = (
            f"job asks for no GPU, but nodes of pool {role.pool_name!r} have {count}; set gpusPerNode or cpusPerNode"
        )
        yield NO_GPUS.at(source, ("pool",), message)
    each = per_node(role, part=part)
    if each and role.nodes > each * role.pool.nodes:
        most = each * role.pool.nodes
        has = f"{role.pool.nodes} nodes" + ("" if each == 1 else f", each for {each} such pods")
        message = f"nodes is {role.nodes}, but pool {role.pool_name!r} has {has}; ask for at most {most}"
        yield NODES.at(source, (*role.path, "nodes"), message)


def check_amounts(role: RoleSpec, source: Source) -> Iterator[Finding]:
    """Yield CPUs and memory of one pod that no node has."""
    node = available(role.pool)
    if role.cpus is not None and role.cpus > node.cpus:
        message = (
            f"cpusPerNode is {role.cpus}, but pool {role.pool_name!r} has {int(node.cpus)} a node for pods; lower it"
        )
        yield CPUS.at(source, (*role.path, "cpusPerNode"), message)
    if role.memory is not None and amount(role.memory) > node.memory:
        limit = f"{node.memory // 2**30}Gi"
        message = f"memoryPerNode is {role.memory}, but pool {role.pool_name!r} has {limit} a node for pods; lower it"
        yield MEMORY.at(source, (*role.path, "memoryPerNode"), message)


def whole_gpus(role: RoleSpec, *, part: bool) -> int:
    """Return how many whole GPUs a pod of the role asks for."""
    return 0 if part and not role.field else role.gpus


def too_many_gpus(role: RoleSpec, count: int) -> str:
    """Return the sentence for more GPUs than a node has."""
    if not count:
        return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} has no GPUs; remove it or choose another pool"
    *others, last = [str(number) for number in range(1, count + 1) if number & (number - 1) == 0 or number == count]
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} has nodes of {count}; ask for {choices}"


def per_node(role: RoleSpec, *, part: bool) -> int:
    """Return how many such pods fit one node; at least those that are derived to fill a node fit once."""
    node, gpus = available(role.pool), whole_gpus(role, part=part)
    limits = []
    if gpus and node.gpus:
        limits.append(node.gpus // gpus)
    if role.cpus is not None:
        limits.append(int(node.cpus // role.cpus))
    if role.memory is not None and amount(role.memory):
        limits.append(int(node.memory // amount(role.memory)))
    return min(limits, default=1)


def check_room(run: Resolved) -> Iterator[Finding]:
    """Yield a role of the launcher's that finds no room: the workers fill every node of the pool."""
    worker = run.specs[0]
    fits = max(1, per_node(worker, part=run.run.job.gpu is not None))
    if worker.nodes < fits * worker.pool.nodes:
        return
    node, taken = available(worker.pool), run.sizing.worker.requests()
    has = {"cpu": Decimal(int(node.cpus)), "memory": Decimal(node.memory), "ephemeral-storage": Decimal(node.storage)}
    room = {name: most - fits * amount(taken[name]) for name, most in has.items()}
    for role in run.specs:
        asks = run.sizing.role(role.name).requests()
        short = [name for name, left in room.items() if amount(asks[name]) > left]
        if short and role.why and role.pool_name == worker.pool_name:
            message = (
                f"role {role.name!r} of launcher {run.launcher.name!r} finds no room: workers fill pool"
                f" {role.pool_name!r}; write roles: {{{role.name}: {{pool: …}}}}"
            )
            yield ROOM.at(run.run.source, (FIELDS[short[0]],), message)


def amount(quantity: str) -> Decimal:
    """Return a quantity as a number."""
    return Quantity.parse(quantity).amount
