"""Names of GPU and RDMA resources, as device plugins advertise them."""

from __future__ import annotations

import re

from trainyard.base.labels import NETWORK_RESOURCE
from trainyard.judge.policies.world import World
from trainyard.upstream.pods.resources import HUGE_PAGES, WHOLE_GPUS

PARTS_OF_GPUS = re.compile(r"nvidia\.com/(?:gpu\.shared|mig-\d+g\.\d+gb(?:\.\w+)*)")

EFA = "vpc.amazonaws.com/efa"

RDMA = re.compile(
    r"rdma/.+|vpc\.amazonaws\.com/efa|amd\.com/v?nic|nvidia\.com/(?:mlnxnics|hostdev|rdma-vf|sriov_resource)"
)
"""Names of the projects' own manifests: k8s-rdma-shared-dev-plugin, EFA, ROCm and NVIDIA network operators, OKE."""


def is_gpu(resource: str) -> bool:
    """Say whether a resource is a GPU, or a part of one."""
    return resource in WHOLE_GPUS or PARTS_OF_GPUS.fullmatch(resource) is not None


def rdma_resources(world: World) -> frozenset[str]:
    """Return the RDMA devices of the objects' SR-IOV policies and networks, by their names without prefix."""
    found = {
        policy.text("spec", "resourceName")
        for policy in world.of("SriovNetworkNodePolicy")
        if policy.get("spec", "isRdma") is True
    }
    attached = (manifest.annotations.get(NETWORK_RESOURCE, "") for manifest in world.of("NetworkAttachmentDefinition"))
    return frozenset({*found, *(name.rpartition("/")[2] for name in attached)} - {""})


def fabric_devices(world: World, pool: str) -> frozenset[str] | None:
    """Return the devices by which pods of a described pool reach the fabric, none where they are attached without.

    None where the pool is on no fabric, or pods cannot be given its NICs.
    """
    from trainyard.render.sizing.fabrics import fabric_type  # what needs no inventory starts without

    cluster = world.inventory
    if cluster is None or cluster.fabric is None or pool not in cluster.pools:
        return None
    fabric = fabric_type(cluster)
    if not fabric.usable(cluster) or not fabric.reaches(cluster, pool):
        return None
    return frozenset(name for name in fabric.per_node(cluster, pool) if not name.startswith(HUGE_PAGES))


def is_rdma(resource: str, known: frozenset[str] = frozenset()) -> bool:
    """Say whether a resource is an RDMA device; `known` are those that the world's objects create."""
    return RDMA.fullmatch(resource) is not None or ("/" in resource and resource.rpartition("/")[2] in known)
