"""Whether the pods that a job asks for fit nodes of their pools, and all of them the pool; what is derived fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from trainyard.base.findings import Finding, count_of
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.arrays import MOST as INDICES
from trainyard.judge.preflight.subjects import RESOLVED, RUN, Planned
from trainyard.render.kinds import Resolved
from trainyard.render.launchers.base import bounds
from trainyard.render.sizing import WORKER, RoleSize, RoleSpec, pod_requests, resources
from trainyard.render.sizing.companions import companions, total
from trainyard.render.sizing.disks import of_local_disks
from trainyard.render.sizing.gpus import offered_gpus, offers
from trainyard.render.sizing.machines import available, machine
from trainyard.render.sizing.node import binary
from trainyard.render.sizing.roles import number
from trainyard.specs import Pool
from trainyard.specs.sources import Source
from trainyard.upstream.pods.resources import EPHEMERAL_STORAGE, in_bytes

DOCS = "docs/jobs.md"
SCHEDULER = "kubernetes v1.35 pkg/scheduler/framework/plugins/noderesources/fit.go"

GPUS = Rule(
    id="spec/gpus-per-node",
    title="A pod requests at most the GPUs of one node of its pool.",
    why="no node has room for the pod, so it stays pending and holds its quota",
    fix="use fewer GPUs per node, and more nodes",
    source=SCHEDULER,
)
CPUS = Rule(
    id="spec/cpus-per-node",
    title="A pod requests at most the CPUs that one node of its pool has for pods.",
    why="no node has room for the pod, so it stays pending and holds its quota",
    fix="lower cpusPerNode, or remove it: the default follows from the GPUs",
    source=SCHEDULER,
)
MEMORY = Rule(
    id="spec/memory-per-node",
    title="A pod requests at most the memory that one node of its pool has for pods.",
    why="no node has room for the pod, so it stays pending and holds its quota",
    fix="lower memoryPerNode, or remove it: the default follows from the GPUs",
    source=SCHEDULER,
)
NO_GPUS = Rule(
    id="spec/no-gpus",
    title="A job on nodes with GPUs sets gpusPerNode or cpusPerNode.",
    why="otherwise it takes the CPUs that belong to one GPU, and nobody can use this GPU",
    fix="set gpusPerNode, or cpusPerNode if the job needs no GPU",
    source=DOCS,
)
NODES = Rule(
    id="spec/nodes",
    title="A job has at most as many pods as its pool can hold.",
    why="a gang that is larger than the pool never starts",
    fix="use fewer nodes, or another pool",
    source=DOCS,
)
CONTAINERS = Rule(
    id="spec/containers",
    title="A pod with all its containers fits a node of its pool.",
    why="no node has room for the pod, so it stays pending and holds its quota",
    fix="lower the requests of the containers, or cpusPerNode and memoryPerNode",
    source=SCHEDULER,
)
ROOM = Rule(
    id="run/implied-role",
    title="A role that the launcher adds has room beside the workers.",
    why="its pod stays pending, and all other pods wait for it",
    fix="give the role another pool, or lower cpusPerNode, memoryPerNode or scratch",
    source=DOCS,
    layer="run",
)

LOCAL = "local disk"
"""What a pod takes of the pool's local disks by a claim of its own: no resource, so that nothing but this counts it."""

MANY = 1024
"""Pods a node that nobody has: the kubelet takes 110 (kubernetes v1.35 pkg/kubelet/apis/config/v1beta1/defaults.go)."""

FIELDS = {LOCAL: "scratch", "cpu": "cpusPerNode", "memory": "memoryPerNode", EPHEMERAL_STORAGE: "scratch"}
"""Fields of a job by the resources that they say."""


@RUN.check()
def check_roles(planned: Planned) -> Iterator[Finding]:
    """Yield the requests of each role that do not fit a node."""
    for role in planned.roles:
        yield from check_role(role, planned.run.source, part=planned.run.job.gpu is not None)


def check_role(role: RoleSpec, source: Source, *, part: bool) -> Iterator[Finding]:
    """Yield the findings on GPUs, CPUs and memory that do not fit a node.

    `part` says that the worker asks for a part of a GPU, which is no whole one.
    """
    if role.implied:
        return
    count, gpus = available(role.pool).gpus, whole_gpus(role, part=part)
    if gpus > offered_gpus(role.pool):
        yield GPUS.at(source, (*role.path, "gpusPerNode"), too_many_gpus(role, offered_gpus(role.pool)))
        return
    yield from check_amounts(role, source)
    if count and not role.gpus and role.cpus is None and not role.field:
        message = (
            f"gpusPerNode is not set, but nodes of pool {role.pool_name!r} have {count}; set gpusPerNode or cpusPerNode"
        )
        yield NO_GPUS.at(source, ("pool",), message)


def check_amounts(role: RoleSpec, source: Source) -> Iterator[Finding]:
    """Yield CPUs and memory of one pod that no node has."""
    node = available(role.pool)
    if role.cpus is not None and role.cpus > node.cpus:
        message = (
            f"cpusPerNode is {role.cpus}, but a node of pool {role.pool_name!r} has {int(node.cpus)} for pods; lower it"
        )
        yield CPUS.at(source, (*role.path, "cpusPerNode"), message)
    if role.memory is not None and amount(role.memory) > node.memory:
        limit = f"{node.memory // 2**30}Gi"
        message = (
            f"memoryPerNode is {role.memory}, but a node of pool {role.pool_name!r} has {limit} for pods; lower it"
        )
        yield MEMORY.at(source, (*role.path, "memoryPerNode"), message)


@RUN.check()
def check_counts(planned: Planned) -> Iterator[Finding]:
    """Yield numbers of nodes beyond all that the pool could hold: to name each of such pods takes hours."""
    run = planned.run
    asked: list[tuple[tuple[str, ...], int, str, Pool]] = [(("nodes",), run.job.nodes, run.pool_name, run.pool)]
    for name, role in run.job.roles.items():
        pool = role.pool or run.pool_name
        asked.append((("roles", name, "nodes"), role.nodes, pool, run.cluster.pools[pool]))
    for path, nodes, pool_name, has in asked:
        if nodes > has.nodes * MANY:
            message = f"nodes is {nodes}, but pool {pool_name!r} has {has.nodes} nodes; lower nodes"
            yield NODES.at(run.source, path, message)


def whole_gpus(role: RoleSpec, *, part: bool) -> int:
    """Return how many whole GPUs a pod of the role asks for."""
    return 0 if part and not role.field else role.gpus


def too_many_gpus(role: RoleSpec, count: int) -> str:
    """Return the sentence for more GPUs than a node has."""
    parts = [offer for offer in offers(role.pool) if not offer.whole]
    if not count and parts:
        ask = f"gpu: {{profile: {parts[0].profile}}}" if parts[0].profile else "gpu: {shared: true}"
        return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} offers parts of GPUs; use {ask}"
    if not count:
        return f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} has no GPUs; remove it, or use another pool"
    *others, last = [str(number) for number in range(1, count + 1) if number & (number - 1) == 0 or number == count]
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"gpusPerNode is {role.gpus}, but nodes of pool {role.pool_name!r} have {count}; use {choices}"


@RESOLVED.check()
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
        own = [resources(companion) for companion in companions(job)] if role.name == WORKER else []
        local = of_local_disks(job, role)
        if local is not None:
            asks[LOCAL], node[LOCAL] = Decimal(local[0]), Fraction(local[1])
        for added in map(resources, sized.injected):
            asks |= {name: asks.get(name, Decimal()) + amount for name, amount in total([added]).items()}
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
    for pod in pods:
        derived = {"cpu": pod.role.cpus is None, "memory": pod.role.memory is None}
        said = {name for name, has in pod.node.items() if derived.get(name) and pod.running.get(name, 0) > has}
        said.add(LOCAL)
        wide = [name for name, has in pod.node.items() if pod.asks.get(name, 0) > has and name not in said]
        if wide and pod.fit(pod.trainer):
            name = wide[0]
            asks, has = write_quantity(name, pod.asks[name]), write_quantity(name, pod.node[name])
            message = (
                f"all containers together request {asks} {name}, but a node of pool {pod.role.pool_name!r} has {has}"
                " for pods; lower them"
            )
            field = "containers" if run.run.job.containers else "initContainers"
            yield CONTAINERS.at(run.run.source, (field,), message)


def too_many(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield more pods of a role than its pool can hold."""
    for pod in pods:
        role, fits = pod.role, pod.fit(pod.asks)
        most = fits * role.pool.nodes
        if most > 0 and role.pods > most and not role.implied:
            has = count_of(role.pool.nodes, "node") + ("" if fits == 1 else f", each for {fits} such pods")
            if role.copies > 1:
                if run.run.job.array is not None and run.run.job.array.of > INDICES:
                    continue
                message = f"array.parallel is {role.pods}, but pool {role.pool_name!r} has {has}; set parallel: {most}"
                yield NODES.at(run.run.source, ("array",), message)
                continue
            message = f"nodes is {role.nodes}, but pool {role.pool_name!r} has {has}; use at most {most}"
            yield NODES.at(run.run.source, (*role.path, "nodes"), message)
        elif most and role.name == WORKER and bounds(run.run.job)[1] > most:
            message = (
                f"maxNodes is {bounds(run.run.job)[1]}, but pool {role.pool_name!r} fits {most} such pods; lower it"
            )
            yield NODES.at(run.run.source, ("maxNodes",), message)


def no_room(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield a role of the launcher's that finds no room: the workers fill every node of the pool."""
    workers = pods[0]
    worker, fits = workers.role, workers.room
    if not fits or worker.pods < fits * worker.pool.nodes:
        return
    there = {name: amount * fits for name, amount in workers.asks.items()}
    for pod in pods[1:]:
        left = {name: has - Fraction(there.get(name, 0)) for name, has in pod.node.items()}
        short = [name for name, room in left.items() if pod.asks.get(name, 0) > room]
        if short and pod.role.why and pod.role.pool_name == worker.pool_name:
            message = (
                f"role {pod.role.name!r} of launcher {run.launcher.name!r} has no room: workers fill pool "
                f"{worker.pool_name!r}; set roles: {{{pod.role.name}: {{pool: …}}}}"
            )
            yield ROOM.at(run.run.source, (FIELDS.get(short[0], "nodes"),), message)


def too_much(run: Resolved, pods: Sequence[Pods]) -> Iterator[Finding]:
    """Yield a pool whose nodes together have less than the roles on it ask for."""
    for name in dict.fromkeys(pod.role.pool_name for pod in pods):
        here = [pod for pod in pods if pod.role.pool_name == name]
        if len(here) == 1 or not all(one_pods.room for one_pods in here):
            continue
        nodes = here[0].role.pool.nodes
        for resource, amount in here[0].node.items():
            asked = sum((one_pods.asks.get(resource, Decimal()) * one_pods.role.pods for one_pods in here), Decimal())
            if asked > amount * nodes:
                roles = ", ".join(one_pods.role.name for one_pods in here)
                message = (
                    f"{roles} request {write_quantity(resource, asked)} {resource}, but pool {name!r} has "
                    f"{write_quantity(resource, amount * nodes)}; lower nodes, or use another pool"
                )
                yield NODES.at(run.run.source, (*here[-1].role.path, "nodes"), message)
                break


def write_quantity(resource: str, quantity: Decimal | Fraction) -> str:
    """Write an amount of a resource for a sentence."""
    return binary(quantity) if in_bytes(resource) or resource == LOCAL else number(Fraction(quantity))


def amount(quantity: str) -> Decimal:
    """Return a quantity as a number."""
    return Quantity.parse(quantity).amount
