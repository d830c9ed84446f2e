"""Amounts of a pool in Kubernetes resources: what a node offers to jobs, and what a quota in GPUs comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from trainyard.pods.resources import BASIC, CPU, EPHEMERAL_STORAGE, MEMORY, in_bytes
from trainyard.quantities import Format, Quantity
from trainyard.sizing import gpus, nvlink
from trainyard.sizing.fabrics import fabric_type
from trainyard.sizing.node import available, size
from trainyard.specs import Cluster, Quota
from trainyard.system.once import once


@once
def per_node(cluster: Cluster, pool_name: str) -> Mapping[str, Fraction]:
    """Return what jobs can have of one node of the pool: cores, bytes, devices, nothing where daemons take all."""
    pool = cluster.pools[pool_name]
    node = available(pool)
    left = {CPU: node.cpus, MEMORY: Fraction(node.memory), EPHEMERAL_STORAGE: Fraction(node.storage)}
    found = {name: max(amount, Fraction(0)) for name, amount in left.items()}
    found |= {name: Fraction(count) for name, count in gpus.per_node(pool).items()}
    return {**found, **fabric_type(cluster).per_node(cluster, pool_name), **nvlink.per_node(cluster, pool)}


def covered(cluster: Cluster, pools: Iterable[str]) -> tuple[str, ...]:
    """Return the resources that nodes of these pools have: CPUs, memory and disk first, the others sorted.

    Every queue covers the first three: a pod that requests a resource that is not covered is never admitted.
    """
    found = {name for pool in pools for name in per_node(cluster, pool)}
    return (*BASIC, *sorted(found - set(BASIC)))


@once
def amounts(cluster: Cluster, pool_name: str, quota: Quota) -> Mapping[str, str]:
    """Return what a quota on a pool comes to in each resource of its nodes, as quantities.

    A quota in GPUs or nodes is that share of everything on the nodes: the jobs that share nodes by GPUs are each
    rounded down, so that together they never exceed it. A quota in CPUs and memory has no GPUs, and of disk and
    devices the share of its CPUs.
    """
    whole = per_node(cluster, pool_name)
    pool = cluster.pools[pool_name]
    cards = pool.node.gpus
    if quota.cpus is not None and quota.memory is not None:
        spelled = {"cpu": Fraction(quota.cpus), "memory": Fraction(size(quota.memory))}
        part = Fraction(quota.cpus) / whole["cpu"] if whole["cpu"] else Fraction(0)
        rest = {name: amount * part for name, amount in whole.items()}
        return quantities(rest | spelled | dict.fromkeys(gpus.per_node(pool), Fraction(0)))
    if quota.nodes is not None:
        share = Fraction(quota.nodes)
    else:
        share = Fraction(quota.gpus or 0, cards.count) if cards else Fraction(0)
    return quantities({name: amount * share for name, amount in whole.items()})


def quantities(found: dict[str, Fraction]) -> dict[str, str]:
    """Write amounts in whole units: CPUs and bytes rounded down, devices up, of which there are plenty."""
    return {
        name: quantity(name, math.floor(amount) if name in BASIC or in_bytes(name) else math.ceil(amount))
        for name, amount in found.items()
    }


def quantity(resource: str, amount: int) -> str:
    """Write an amount of a resource in whole units, such as 96Gi of memory."""
    return Quantity(Decimal(amount), Format.BINARY_SI if in_bytes(resource) else Format.DECIMAL_SI).canonical()
