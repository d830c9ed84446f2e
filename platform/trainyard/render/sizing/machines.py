"""The machine of a pool: what the kubelet of a node offers to pods, what of that daemons hold, what is left to jobs.

Sizes, quotas, checks, the kubelet that is asked, Kueue's inventory and the scheduler read this one value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from trainyard.base.quantities import Quantity
from trainyard.base.system.once import once
from trainyard.render.sizing import gpus, nvlink
from trainyard.render.sizing.daemons import Container, Daemon, daemons
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.kubelet import amount, settings
from trainyard.render.sizing.node import MI, cores, huge_pages, reserved_cpus, size, taints_of
from trainyard.specs import Cluster, Pool
from trainyard.upstream.kubelet.allocatable import allocatable, binary, kept_of
from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from trainyard.upstream.pods.taints import Taint

DISK_SHARE = Fraction(8, 10)
"""Of a node's local disk, the part that jobs may ask for.

The kubelet evicts below 10 % free (kubernetes v1.35 pkg/kubelet/eviction/defaults_linux.go), which it keeps to itself;
as much again is for images, of which it takes nothing off.
"""

REST = "daemons"
"""What the pod is called that stands for daemons which nobody names."""


@dataclass(frozen=True, slots=True)
class Available:
    """What pods of training can have of one node."""

    cpus: Fraction
    memory: int
    """Bytes."""
    storage: int
    """Bytes."""
    gpus: int


@dataclass(frozen=True)
class Machine:
    """A node of a pool as its kubelet registers it, and what is on every one of them."""

    pool: Pool
    labels: Mapping[str, str]
    """Those that all nodes of the pool have; where each of them stands is not among them."""
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, Fraction]
    """What its kubelet offers to pods, by resource: cores, bytes, devices of plugins, places for pods."""
    fabric: Mapping[str, Fraction]
    """What jobs are given for the training fabric: devices, and memory in huge pages."""
    claimed: Mapping[str, Fraction]
    """Devices that pods claim of a driver, which no kubelet offers."""
    daemons: tuple[Daemon, ...]
    """The pods that every node has beside those of jobs."""

    @cached_property
    def daemon_requests(self) -> Mapping[str, Fraction]:
        """The cores and the bytes that these daemons ask for together."""
        daemons = self.daemons
        return {name: sum((daemon.requests(name) for daemon in daemons), Fraction(0)) for name in (CPU, MEMORY)}

    @cached_property
    def for_jobs(self) -> Mapping[str, Fraction]:
        """What jobs can have of one node, by resource; nothing where daemons take all."""
        node = available(self.pool)
        left = {CPU: node.cpus, MEMORY: Fraction(node.memory), EPHEMERAL_STORAGE: Fraction(node.storage)}
        found = {name: max(amount, Fraction(0)) for name, amount in left.items()}
        found |= {name: self.allocatable[name] for name in gpus.per_node(self.pool)}
        return {**found, **self.fabric, **self.claimed}


@once
def machine(cluster: Cluster, pool_name: str) -> Machine:
    """Return the machine of a pool."""
    pool = cluster.pools[pool_name]
    fabric = fabric_type(cluster).per_node(cluster, pool_name)
    devices = {name: Fraction(count) for name, count in gpus.per_node(pool).items()}
    return Machine(
        pool=pool,
        labels=gpus.labels(pool_name, pool),
        taints=taints_of(pool),
        allocatable={**fabric, **devices, **kubelet_allocatable(pool)},
        fabric=fabric,
        claimed=nvlink.per_node(cluster, pool),
        daemons=daemons_of(cluster, pool_name),
    )


@once
def kubelet_allocatable(pool: Pool) -> Mapping[str, Fraction]:
    """Return the amounts that the kubelet of a node of the pool offers to pods, but for devices.

    The kubelet's own arithmetic, without a machine to start it on. Where Karpenter starts the nodes, it is no more
    memory than Karpenter expects of them.
    """
    shape, fields = pool.node, settings(pool)
    there = {
        CPU: Quantity(Decimal(shape.cpus)),
        MEMORY: binary(size(shape.memory)),
        EPHEMERAL_STORAGE: Quantity.parse(shape.ephemeral_storage),
        **{name: binary(count) for name, count in huge_pages(shape).items()},
    }
    kept = kept_of(there, fields, len(reserved_cpus(pool)) if pool.kubelet else 0)
    found = allocatable(there, kept, pods=fields["maxPods"])
    amounts = {name: Fraction(quantity.amount) for name, quantity in found.items()}
    if pool.scaling is not None and pool.scaling.node_class is not None:
        amounts[MEMORY] = min(amounts[MEMORY], expected_memory(pool, fields["maxPods"]))
    return amounts


def quantities(amounts: Mapping[str, Fraction]) -> dict[str, str]:
    """Return amounts as texts: thousandths of CPUs, all else in whole units, rounded down."""
    return {name: f"{int(amount * 1000)}m" if name == CPU else str(int(amount)) for name, amount in amounts.items()}


UNSEEN = Fraction(75, 1000)
"""Share of an instance type's memory that Karpenter leaves out of account until it has seen a node of that type.

aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options.go vmMemoryOverheadPercent.
"""


def expected_memory(pool: Pool, pods: int) -> Fraction:
    """Return the memory, in bytes, that Karpenter expects of a node which it has not started yet.

    aws/karpenter-provider-aws v1.14.1 pkg/providers/instancetype/types.go memory, kubeReservedResources and
    evictionThreshold: 255Mi and 11Mi a pod for the kubelet, 100Mi before it evicts. Without a node that has run, a pod
    that asks for more is never given one. An instance has at least the memory of the shape.
    """
    return Fraction(size(pool.node.memory)) * (1 - UNSEEN) - (255 + 11 * pods + 100) * MI


@once
def available(pool: Pool) -> Available:
    """Return the amounts of a node for training pods: allocatable less daemons, and their share of the disk."""
    shape, node = pool.node, kubelet_allocatable(pool)
    return Available(
        cpus=node[CPU] - cores(shape.daemons.cpus),
        memory=math.floor(node[MEMORY]) - size(shape.daemons.memory),
        storage=math.floor(size(shape.ephemeral_storage) * DISK_SHARE),
        gpus=shape.gpus.count if shape.gpus else 0,
    )


def daemons_of(cluster: Cluster, pool_name: str) -> tuple[Daemon, ...]:
    """Return the daemons that every node of a pool has.

    What is kept for daemons beyond what those ask for that are known is asked for by one pod more.
    """
    found = [daemon for daemon in daemons(cluster, pool_name) if daemon.everywhere]
    kept = cluster.pools[pool_name].node.daemons
    cpus = cores(kept.cpus) - sum(daemon.cpus for daemon in found)
    memory = size(kept.memory) - sum(daemon.memory for daemon in found)
    rest = {CPU: f"{max(0, math.floor(cpus * 1000))}m", MEMORY: amount(max(0, math.floor(memory)))}
    return (*found, Daemon(REST, "kube-system", (Container(REST, rest),), ()))
