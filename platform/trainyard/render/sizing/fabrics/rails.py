"""The rails of a fabric of NICs: which pools and pods are on which of them, and the names of their networks.

The platform's charts and the pods take the names from here, so that they are the same.
"""

from __future__ import annotations

import math
from fractions import Fraction

from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape

VERBS = frozenset({"roce", "infiniband"})
"""Fabrics whose NICs are handed to pods, in one of the ways of `attach`."""

SECONDARY = frozenset({"sriov", "hostdev", "macvlan"})
"""Ways of attaching that put a second interface into the pod; `rdma-shared` gives the device alone."""

LARGE = 4096
"""Bytes of the largest packet of InfiniBand."""

IPOIB_HEADER = 4
"""Bytes that IPoIB takes of each packet (RFC 4391)."""

HOST = "host"
"""The way of attaching in which pods share the node's own network and devices."""


def attach(cluster: Cluster) -> str:
    """Return how pods of the cluster get a NIC of its fabric, `none` where they get none."""
    return cluster.fabric.attach if cluster.fabric else "none"


def has_verbs(cluster: Cluster) -> bool:
    """Whether the cluster's fabric is one of NICs that pods are given."""
    return cluster.fabric is not None and cluster.fabric.type in VERBS and cluster.fabric.attach != "none"


def on_fabric(cluster: Cluster, pool_name: str) -> bool:
    """Whether nodes of the pool are on the fabric and pods can be given NICs of it."""
    fabric = cluster.fabric
    if fabric is None or not has_verbs(cluster):
        return False
    if fabric.pools:
        return pool_name in fabric.pools
    pool = cluster.pools[pool_name]
    return is_known_shape(pool.shape) and bool(pool.node.nics)


def rails(cluster: Cluster, pool_name: str) -> tuple[int, ...]:
    """Return the rails that nodes of the pool are on; none off the fabric."""
    fabric = cluster.fabric
    if fabric is None or not on_fabric(cluster, pool_name):
        return ()
    if fabric.rails is not None:
        return tuple(range(fabric.rails))
    return tuple(sorted({nic.rail for nic in cluster.pools[pool_name].node.nics}))


def every_rail(cluster: Cluster) -> tuple[int, ...]:
    """Return the rails that some pool is on, in their order."""
    return tuple(sorted({rail for name in cluster.pools for rail in rails(cluster, name)}))


def rails_of(cluster: Cluster, pool_name: str, gpus: int) -> tuple[int, ...]:
    """Return the rails of a pod with that many GPUs: one NIC a GPU where there are as many, else their share.

    A part of a node takes the first rails, which hang on one NUMA node with the first GPUs.
    """
    every, shape = rails(cluster, pool_name), cluster.pools[pool_name].node
    if shape.gpus is None or gpus == 0:
        return every
    return every[: math.ceil(len(every) * Fraction(min(gpus, shape.gpus.count), shape.gpus.count))]


def one_for_all(cluster: Cluster) -> bool:
    """Whether one resource names the NICs of all rails, so that nobody knows which of them a pod gets."""
    fabric = cluster.fabric
    return fabric is not None and len(fabric.resources) == 1 and len(every_rail(cluster)) > 1


def network(cluster: Cluster, rail: int) -> str:
    """Return the name of a rail's NetworkAttachmentDefinition, in every team's namespace; one network may serve all."""
    return "rails" if one_for_all(cluster) else f"rail-{rail}"
