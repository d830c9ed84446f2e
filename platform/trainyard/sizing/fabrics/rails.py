"""The training fabric: which pools and rails it has, and the names of its networks and devices.

The platform's charts and the pods take the names from here, so that they are the same.
"""

from __future__ import annotations

import math
from fractions import Fraction

from trainyard.releases import release
from trainyard.specs import Cluster, Pool

VERBS = frozenset({"roce", "infiniband"})
"""Fabrics whose NICs are handed to pods, in one of the ways of `attach`."""

SECONDARY = frozenset({"sriov", "hostdev", "macvlan"})
"""Ways of attaching that put a second interface into the pod; `rdma-shared` gives the device alone."""

SHARED = frozenset({"macvlan", "rdma-shared"})
"""Ways of attaching in which pods share a NIC's RDMA device."""

SHARED_PODS = 64
"""Pods of one node that may share a NIC's RDMA device (`rdmaHcaMax` of the RDMA shared device plugin)."""

UNKNOWN = "nvidia.com"
"""Prefix where no operator of the cluster advertises NICs: what NVIDIA's own device plugins use."""


def attach(cluster: Cluster) -> str:
    """Return how pods of the cluster get a NIC of its fabric, `none` where they get none."""
    return cluster.fabric.attach if cluster.fabric else "none"


def network(rail: int) -> str:
    """Return the name of a rail's NetworkAttachmentDefinition, in every team's namespace."""
    return f"rail-{rail}"


def pool_resource(rail: int) -> str:
    """Return a rail's `resourceName` in a device policy, without prefix; dashes are refused there.

    sriov-network-operator v1.6.0 pkg/webhook/validate.go: `[a-zA-Z0-9_]+`.
    """
    return f"rail_{rail}"


def resource(cluster: Cluster, rail: int) -> str:
    """Return the extended resource that pods request for one NIC of a rail."""
    return f"{resource_prefix(cluster)}/{pool_resource(rail)}"


def resource_prefix(cluster: Cluster) -> str:
    """Return the prefix under which the operator that attaches pods advertises NICs.

    The RDMA shared device plugin says rdma (v1.5.3).
    """
    way = attach(cluster)
    if way in SHARED:
        return "rdma"
    for name, choice in cluster.operators.items():
        known = release(name)
        if known is not None and way in known.attaches:
            return known.prefix(choice.values) or UNKNOWN
    return UNKNOWN


def has_verbs(cluster: Cluster) -> bool:
    """Whether the cluster's fabric is one of NICs that pods are given."""
    return cluster.fabric is not None and cluster.fabric.type in VERBS and cluster.fabric.attach != "none"


def on_fabric(cluster: Cluster, pool_name: str) -> bool:
    """Whether nodes of the pool are on the fabric and pods can be given NICs of it."""
    fabric = cluster.fabric
    if fabric is None or not has_verbs(cluster):
        return False
    return pool_name in fabric.pools if fabric.pools else bool(cluster.pools[pool_name].node.nics)


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


def functions_per_node(cluster: Cluster, pool: Pool, rail: int) -> int:
    """Return how many pods of one node can have a NIC of the rail at a time."""
    way = attach(cluster)
    if way in SHARED:
        return SHARED_PODS
    if way == "sriov":
        return sum(nic.virtual_functions for nic in pool.node.nics if nic.rail == rail) or 1
    return 1
