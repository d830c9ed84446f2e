"""Which nodes of a cluster are watched for faults of hardware, for which faults, and the taint of a node with one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.specs import Cluster
from trainyard.specs.faults import hardware
from trainyard.specs.models.health import Health
from trainyard.specs.shapes import is_known_shape

DETECTOR = "node-problem-detector"
"""The operator that looks for faults."""

TAINTER = "node-readiness-controller"
"""The operator that taints the nodes that have one, and takes the taint away."""

OWN = "NodeFault"
"""Condition of faults that the cluster's file adds."""

PREFIX = "readiness.k8s.io"
"""Group of every taint that the controller sets (node-readiness-controller v0.5.0 api/v1alpha1)."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A fault that is looked for."""

    reason: str
    pattern: str
    condition: str | None
    """Condition that it sets; None for one that is an event alone."""
    what: str
    """Sentence for readers; empty for faults of the cluster's own."""


def watched_pools(cluster: Cluster) -> list[str]:
    """Return the pools whose nodes are watched: those that the file names, else all with GPUs."""
    health = cluster.health or Health()
    if health.pools:
        return [name for name in health.pools if name in cluster.pools]
    return gpu_pools(cluster)


def gpu_pools(cluster: Cluster) -> list[str]:
    """Return the pools whose nodes have GPUs."""
    return [name for name, pool in cluster.pools.items() if is_known_shape(pool.shape) and pool.node.gpus is not None]


def watched_faults(cluster: Cluster) -> list[Watched]:
    """Return the faults that are looked for on the watched pools, each pattern once: known ones, then the file's."""
    return [*known_faults(cluster), *own_faults(cluster)]


def known_faults(cluster: Cluster) -> Iterator[Watched]:
    """Yield the known faults of hardware that the watched pools may have, without those that the file ignores."""
    ignored = (cluster.health or Health()).ignore
    shapes = [cluster.pools[name] for name in watched_pools(cluster)]
    vendors = {pool.node.gpus.vendor for pool in shapes if is_known_shape(pool.shape) and pool.node.gpus}
    for kind in hardware().values():
        if kind.vendor is not None and kind.vendor not in vendors:
            continue
        for reason, fault in kind.faults.items():
            if reason not in ignored:
                condition = kind.condition if fault.lasting else None
                yield Watched(reason, fault.pattern, condition, fault.what)


def own_faults(cluster: Cluster) -> Iterator[Watched]:
    """Yield the faults that the cluster's file adds."""
    for reason, fault in (cluster.health or Health()).faults.items():
        yield Watched(reason, fault.pattern, OWN if fault.lasting else None, "")


def conditions(cluster: Cluster) -> dict[str, str]:
    """Return the conditions that faults set, with the message that each has while there is no fault."""
    used = {fault.condition for fault in watched_faults(cluster) if fault.condition}
    texts = {kind.condition: kind.healthy for kind in hardware().values() if kind.condition}
    return {name: texts.get(name, "the kernel's log shows no such fault") for name in sorted(used)}


def taint_key(condition: str) -> str:
    """Return the key of the taint of nodes with a condition: `readiness.k8s.io/GpuFault`."""
    return f"{PREFIX}/{condition}"
