"""Amounts of a pool in Kubernetes resources: what a quota in GPUs or nodes comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from trainyard.base.system.once import once
from trainyard.render.sizing import gpus
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.node import size
from trainyard.specs import Cluster, Quota
from trainyard.upstream.pods.resources import BASIC, CPU, MEMORY, in_bytes, quantity_text


def covered_resources(cluster: Cluster, pools: Iterable[str]) -> tuple[str, ...]:
    """Return the resources that nodes of these pools have: CPUs, memory and disk first, the others sorted.

    Every queue covers the first three: a pod that requests a resource that is not covered is never admitted.
    """
    found = {name for pool in pools for name in machine(cluster, pool).for_jobs}
    return (*BASIC, *sorted(found - set(BASIC)))


@once
def amounts(cluster: Cluster, pool_name: str, quota: Quota) -> Mapping[str, str]:
    """Return the amounts of a quota on a pool in each resource of its nodes, as quantities.

    A quota in GPUs or nodes is that share of everything on the nodes: the jobs that share nodes by GPUs are each
    rounded down, so that together they never exceed it. A quota in CPUs and memory has no GPUs, and of disk and
    devices the share of its CPUs.
    """
    whole = machine(cluster, pool_name).for_jobs
    pool = cluster.pools[pool_name]
    cards = pool.node.gpus
    if quota.cpus is not None and quota.memory is not None:
        spelled = {CPU: Fraction(quota.cpus), MEMORY: Fraction(size(quota.memory))}
        part = Fraction(quota.cpus) / whole[CPU] if whole[CPU] else Fraction(0)
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
        name: quantity_text(name, math.floor(amount) if name in BASIC or in_bytes(name) else math.ceil(amount))
        for name, amount in found.items()
    }
