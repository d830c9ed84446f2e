"""The daemons on nodes of a pool: those of the cluster's operators, as we install them, and those that it tells of.

Whether a daemon tolerates the pool's taints is not asked: who puts one on every node means every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from trainyard.base.documents import Path
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.software import cluster_install
from trainyard.specs import Cluster, OperatorChoice
from trainyard.specs.models.daemons import PoolDaemon
from trainyard.specs.releases import release
from trainyard.specs.releases.facts import Daemon as Known
from trainyard.specs.releases.facts import DaemonContainer, Facts, lookup
from trainyard.upstream.pods.pod import ALWAYS, Pod, parse_if_valid
from trainyard.upstream.pods.resources import CPU, MEMORY


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a daemon, with what it asks for as text."""

    name: str
    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    init: bool = False
    sidecar: bool = False

    def value(self) -> dict[str, Any]:
        """Return it as Kubernetes writes it."""
        amounts = {"requests": dict(self.requests), "limits": dict(self.limits)}
        found = {"name": self.name, "resources": {name: amount for name, amount in amounts.items() if amount}}
        return {**found, "restartPolicy": ALWAYS} if self.sidecar else found


@dataclass(frozen=True)
class Daemon:
    """A pod that nodes of a pool have beside those of jobs."""

    name: str
    namespace: str
    containers: tuple[Container, ...]
    at: Path
    """Where the cluster's file says so, or could say otherwise."""
    everywhere: bool = True
    """Whether every node of the pool has one; else one of them may."""

    @cached_property
    def read(self) -> Pod:
        """Its pod as the kubelet reads it."""
        return Pod.of(self.pod()["spec"])

    @property
    def guaranteed(self) -> bool:
        """Whether the kubelet pins its memory to NUMA nodes, where it pins any."""
        return self.read.pinned

    @property
    def cpus(self) -> Fraction:
        """CPUs that its pod asks for."""
        return self.requests(CPU)

    @property
    def memory(self) -> Fraction:
        """Bytes that its pod asks for."""
        return self.requests(MEMORY)

    def requests(self, resource: str) -> Fraction:
        """Return how much of a resource its pod asks for."""
        amount = self.read.asked.get(resource)
        return Fraction(amount.amount) if amount else Fraction(0)

    def pod(self) -> dict[str, Any]:
        """Return its pod, with what the kubelet looks at when it takes pods."""
        spec: dict[str, Any] = {}
        for container in self.containers:
            field_name = "initContainers" if container.init or container.sidecar else "containers"
            spec.setdefault(field_name, []).append(container.value())
        metadata = {"name": self.name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def daemons(cluster: Cluster, pool_name: str) -> tuple[Daemon, ...]:
    """Return the daemons on nodes of the pool, in the order of the cluster's file, those of others last."""
    pool = cluster.pools[pool_name]
    ours = {daemon.name: daemon for daemon in of_operators(cluster, pool_name)}
    return (*ours.values(), *(of_others(daemon, pool_name, index) for index, daemon in enumerate(pool.daemons)))


def of_operators(cluster: Cluster, pool_name: str) -> Iterator[Daemon]:
    """Yield the daemons of the cluster's operators on the pool, one for each operator that brings it."""
    for name, choice in cluster.operators.items():
        facts = release(name)
        for known in facts.daemons if facts else ():
            if facts and lands(known, cluster, pool_name) and not switched_off(known, choice, defaults(cluster, name)):
                yield of_operator(known, facts, choice, ("operators", name))


def lands(known: Known, cluster: Cluster, pool_name: str) -> bool:
    """Whether nodes of the pool are among those that the daemon is for."""
    if known.nodes == "any":
        return not cluster.pools[pool_name].taints
    wrong_fabric = known.nodes == "fabric" and known.fabrics and fabric_type(cluster).name not in known.fabrics
    return not wrong_fabric and is_among(known.nodes, cluster, pool_name)


def is_among(nodes: str, cluster: Cluster, pool_name: str) -> bool:
    """Whether nodes of the pool are among those with a vendor's GPUs, or on the fabric; all are among `all`."""
    if nodes == "all":
        return True
    if nodes == "fabric":
        return fabric_type(cluster).reaches(cluster, pool_name)
    gpus = cluster.pools[pool_name].node.gpus
    return gpus is not None and gpus.vendor == nodes


def defaults(cluster: Cluster, operator: str) -> Mapping[str, Any]:
    """Return the values of an operator of ours that follow from the distribution; who else installs it may differ."""
    ours = operator == "gpu-operator" and cluster.operators[operator].managed
    return cluster_install(cluster).values if ours else {}


def switched_off(known: Known, choice: OperatorChoice, values: Mapping[str, Any]) -> bool:
    """Whether the cluster's values leave the daemon out, or those that follow from its distribution."""
    if known.switch is None:
        return False
    said = lookup(choice.values, known.switch)
    return (lookup(values, known.switch) if said is None else said) is False


def of_operator(known: Known, facts: Facts, choice: OperatorChoice, at: Path) -> Daemon:
    """Return an operator's daemon as it is installed on the cluster."""
    said = [
        daemon_container.value
        for daemon_container in known.containers
        if daemon_container.value and lookup(choice.values, daemon_container.value) is not None
    ]
    where = (*at, "values", *said[0].split(".")) if said else at
    containers = tuple(container(daemon_container, choice) for daemon_container in known.containers)
    return Daemon(known.name, facts.namespace, containers, where, everywhere=known.nodes != "any")


def container(known: DaemonContainer, choice: OperatorChoice) -> Container:
    """Return one container: the chart's amounts, over them ours where we install it, over them the cluster's.

    Nobody has checked these: what is no quantity is left out.
    """
    own = lookup(choice.values, known.value) if known.value else None
    layers = [known.resources.model_dump(), *([known.sets.model_dump()] if known.sets and choice.managed else [])]
    amounts: dict[str, dict[str, str]] = {}
    for kind in ("requests", "limits"):
        found = {name: amount for layer in layers for name, amount in layer[kind].items()}
        given = amounts_in(own, kind)
        found |= {str(name): str(amount) for name, amount in given.items() if amount is not None}
        kept = {name: amount for name, amount in found.items() if given.get(name, amount) is not None}
        amounts[kind] = {name: amount for name, amount in kept.items() if parse_if_valid(amount) is not None}
    return Container(known.name, amounts["requests"], amounts["limits"], known.init, known.sidecar)


def amounts_in(value: Any, kind: str) -> Mapping[str, Any]:
    """Return the requests or limits in a chart's value, nothing where they are no map."""
    found = value.get(kind) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def malformed_amounts(cluster: Cluster) -> Iterator[tuple[Path, Any]]:
    """Yield the amounts of daemons in the cluster's values that are no quantities, with their places."""
    for name, choice in cluster.operators.items():
        facts = release(name)
        listed = (known.value for daemon in (facts.daemons if facts else ()) for known in daemon.containers)
        for value in dict.fromkeys(filter(None, listed)):
            own = lookup(choice.values, value)
            for kind in ("requests", "limits"):
                for resource, amount in amounts_in(own, kind).items():
                    if amount is not None and parse_if_valid(str(amount)) is None:
                        yield ("operators", name, "values", *value.split("."), kind, resource), amount


def of_others(said: PoolDaemon, pool_name: str, index: int) -> Daemon:
    """Return a daemon that the pool tells of, in a pod of one container."""
    amounts = {CPU: said.cpus, MEMORY: said.memory}
    one = Container(said.name, amounts, amounts if said.guaranteed else {})
    return Daemon(said.name, "kube-system", (one,), ("pools", pool_name, "daemons", index))
