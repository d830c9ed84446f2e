"""Whether the pods that a job asks for fit nodes of their pools, and all of them the pool; what is derived fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from trainyard.findings import Finding, counted
from trainyard.kinds import Resolved
from trainyard.launchers.base import bounds
from trainyard.pods.resources import EPHEMERAL_STORAGE, in_bytes
from trainyard.preflight.arrays import MOST as INDICES
from trainyard.quantities import Quantity
from trainyard.rules import Rule
from trainyard.sizing import WORKER, RoleSize, RoleSpec, pod_requests, resources
from trainyard.sizing.companions import companions, total
from trainyard.sizing.disks import of_local_disks
from trainyard.sizing.gpus import offers, whole
from trainyard.sizing.machines import available, machine
from trainyard.sizing.node import binary
from trainyard.sizing.roles import number
from trainyard.specs import Pool
from trainyard.specs.run import Run
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
CONTAINERS = Rule(
    id="spec/containers",
    title="A pod fits a node of its pool with the containers that the job adds to it.",
    why="no node can take the pod, so it stays pending, and its quota with it",
    fix="lower the requests of the containers, or cpusPerNode and memoryPerNode",
    source=SCHEDULER,
)
ROOM = Rule(
    id="run/implied-role",
    title="A role that the launcher implies finds room beside the workers.",
    why="its pod would be pending while all others wait for it",
    fix="give the role another pool, or leave it room: lower cpusPerNode, memoryPerNode or scratch",
    source=DOCS,
    layer="run",
)

LOCAL = "local disk"
"""What a pod takes of the pool's local disks by a claim of its own: no resource, so that nothing but this counts it."""

MANY = 1024
"""Pods a node that nobody has: the kubelet takes 110 (kubernetes v1.35 pkg/kubelet/apis/config/v1beta1/defaults.go)."""

FIELDS = {LOCAL: "scratch", "cpu": "cpusPerNode", "memory": "memoryPerNode", EPHEMERAL_STORAGE: "scratch"}
"""Fields of a job by the resources that they say."""


def check_role(role: RoleSpec, source: Source, *, part: bool) -> Iterator[Finding]:
    """Yield what does not fit: GPUs, CPUs and memory in a node.

    `part` says that the worker asks for a part of a GPU, which is no whole one.
    """
    if role.implied:
        return
    count, gpus = available(role.pool).gpus, whole_gpus(role, part=part)
    if gpus > whole(role.pool):
        yield GPUS.at(source, (*role.path, "gpusPerNode"), too_many_gpus(role, whole(role.pool)))
        return
    yield from check_amounts(role, source)
    if count and not role.gpus and role.cpus is None and not role.field:
        message = (
            f"job asks for no GPU, but nodes of pool {role.pool_name!r} have {count}; set gpusPerNode or cpusPerNode"
        )
        yield NO_GPUS.at(source, ("pool",), message)


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


def check_counts(run: Run) -> Iterator[Finding]:
    """Yield numbers of nodes beyond all that the pool could hold: to name each of such pods takes hours."""
    asked: list[tuple[tuple[str, ...], int, str, Pool]] = [(("nodes",), run.job.nodes, run.job.pool, run.pool)]
    for name, role in run.job.roles.items():
        pool = role.pool or run.job.pool
        asked.append((("roles", name, "nodes"), role.nodes, pool, run.cluster.pools[pool]))
    for path, nodes, pool_name, has in asked:
        if nodes > has.nodes * MANY:
            message = f"nodes is {nodes}, but pool {pool_name!r} has {has.nodes} nodes; ask for at most as many"
            yield NODES.at(run.source, path, message)


def whole_gpus(role: RoleSpec, *, part: bool) -> int:
    """Return how many whole GPUs a pod of the role asks for."""
    return 0 if part and not role.field else role.gpus


def too_many_gpus(role: RoleSpec, count: int) -> str:
    """Return the sentence for more GPUs than a node has."""
    parts = [offer for offer in offers(role.pool) if not offer.whole]
    if not count and parts:
        ask = f"gpu: {{profile: {parts[0].profile}}}" if parts[0].profile else "gpu: {shared: true}"
        return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} offers parts of GPUs; write {ask}"
    if not count:
        return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} has no GPUs; remove it or choose another pool"
    *others, last = [str(number) for number in range(1, count + 1) if number & (number - 1) == 0 or number == count]
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} has nodes of {count}; ask for {choices}"


def check_pods(run: Resolved) -> Iterator[Finding]:
    """Yield pods that no node can hold with the job's own containers, and more of them than their pools can."""
    pods = [Pods.of(run, spec, sized) for spec, sized in zip(run.specs, run.sizing.roles, strict=True)]
    crowded = [*too_wide(run, pods), *too_many(run, pods), *no_room(run, pods)]
    yield from crowded or too_much(run, pods)


@dataclass(frozen=True)
class Pods:
    """The pods of one role, and what a node of its pool has."""

    role: RoleSpec
    asks: Mapping[str, Decimal]
    """What one pod asks for, with the job's own containers."""
    trainer: Mapping[str, Decimal]
    """What its training container alone asks for."""
    running: Mapping[str, Decimal]
    """What the containers that run together ask for."""
    node: Mapping[str, Fraction]

    @classmethod
    def of(cls, run: Resolved, role: RoleSpec, sized: RoleSize) -> Pods:
        """Return the pods of a role as they are rendered."""
        job, alone = run.run.job, sized.requests()
        node, asks = dict(machine(run.run.cluster, role.pool_name).for_jobs), pod_requests(job, sized)
        own = [resources(each) for each in companions(job)] if role.name == WORKER else []
        local = of_local_disks(job, role)
        if local is not None:
            asks[LOCAL], node[LOCAL] = Decimal(local[0]), Fraction(local[1])
        trainer = total([alone])
        return cls(role, asks, trainer, total([alone, *own]) if own else trainer, node)

    @cached_property
    def room(self) -> int:
        """How many of them a node can hold."""
        return self.fit(self.asks)

    def fit(self, asks: Mapping[str, Decimal]) -> int:
        """Return how many pods that ask for this a node can hold."""
        known = {name: amount.as_integer_ratio() for name, amount in asks.items() if amount and name in self.node}
        return min((whole_times(self.node[name], *ratio) for name, ratio in known.items()), default=0)


def whole_times(has: Fraction, numerator: int, denominator: int) -> int:
    """Return how many times a fraction goes into an amount: in whole numbers, which take a third of the time."""
    return has.numerator * denominator // (has.denominator * numerator)


def too_wide(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield pods that fit no node with the job's own containers.

    A training container that fits none by itself is said already, and containers that leave a derived one nothing.
    """
    for each in pods:
        derived = {"cpu": each.role.cpus is None, "memory": each.role.memory is None}
        said = {name for name, has in each.node.items() if derived.get(name) and each.running.get(name, 0) > has}
        said.add(LOCAL)
        wide = [name for name, has in each.node.items() if each.asks.get(name, 0) > has and name not in said]
        if wide and each.fit(each.trainer):
            name = wide[0]
            asks, has = shown(name, each.asks[name]), shown(name, each.node[name])
            message = (
                f"containers and the training one ask for {asks} {name}, but pool {each.role.pool_name!r} has {has}"
                " a node for pods; lower them"
            )
            field = "containers" if run.run.job.containers else "initContainers"
            yield CONTAINERS.at(run.run.source, (field,), message)


def too_many(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield more pods of a role than its pool can hold."""
    for each in pods:
        role, fits = each.role, each.fit(each.asks)
        most = fits * role.pool.nodes
        if most > 0 and role.pods > most and not role.implied:
            has = counted(role.pool.nodes, "node") + ("" if fits == 1 else f", each for {fits} such pods")
            if role.copies > 1:
                if run.run.job.array is not None and run.run.job.array.of > INDICES:
                    continue
                message = (
                    f"array runs {role.pods} pods at once, but pool {role.pool_name!r} has {has}; write"
                    f" parallel: {most}"
                )
                yield NODES.at(run.run.source, ("array",), message)
                continue
            message = f"nodes is {role.nodes}, but pool {role.pool_name!r} has {has}; ask for at most {most}"
            yield NODES.at(run.run.source, (*role.path, "nodes"), message)
        elif most and role.name == WORKER and bounds(run.run.job)[1] > most:
            message = (
                f"maxNodes is {bounds(run.run.job)[1]}, but pool {role.pool_name!r} holds {most} such pods; lower it"
            )
            yield NODES.at(run.run.source, ("maxNodes",), message)


def no_room(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield a role of the launcher's that finds no room: the workers fill every node of the pool."""
    workers = pods[0]
    worker, fits = workers.role, workers.room
    if not fits or worker.pods < fits * worker.pool.nodes:
        return
    there = {name: amount * fits for name, amount in workers.asks.items()}
    for each in pods[1:]:
        left = {name: has - Fraction(there.get(name, 0)) for name, has in each.node.items()}
        short = [name for name, room in left.items() if each.asks.get(name, 0) > room]
        if short and each.role.why and each.role.pool_name == worker.pool_name:
            message = (
                f"role {each.role.name!r} of launcher {run.launcher.name!r} finds no room: workers fill pool"
                f" {worker.pool_name!r}; write roles: {{{each.role.name}: {{pool: …}}}}"
            )
            yield ROOM.at(run.run.source, (FIELDS.get(short[0], "nodes"),), message)


def too_much(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield a pool whose nodes together have less than the roles on it ask for."""
    for name in dict.fromkeys(each.role.pool_name for each in pods):
        here = [each for each in pods if each.role.pool_name == name]
        if len(here) == 1 or not all(each.room for each in here):
            continue
        nodes = here[0].role.pool.nodes
        for resource, amount in here[0].node.items():
            asked = sum((each.asks.get(resource, Decimal()) * each.role.pods for each in here), Decimal())
            if asked > amount * nodes:
                roles = ", ".join(each.role.name for each in here)
                message = (
                    f"{roles} ask for {shown(resource, asked)} {resource}, but pool {name!r} has"
                    f" {shown(resource, amount * nodes)}; lower nodes, or choose another pool"
                )
                yield NODES.at(run.run.source, (*here[-1].role.path, "nodes"), message)
                break


def shown(resource: str, quantity: Decimal | Fraction) -> str:
    """Write an amount of a resource for a sentence."""
    return binary(quantity) if in_bytes(resource) or resource == LOCAL else number(Fraction(quantity))


def amount(quantity: str) -> Decimal:
    """Return a quantity as a number."""
    return Quantity.parse(quantity).amount
