"""The NICs of a fabric as devices of nodes: who advertises them, by which names, how many, and whether aligned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainyard.render.sizing.fabrics.rails import HOST, SECONDARY, attach, every_rail, on_fabric, one_for_all, rails
from trainyard.render.sizing.node import aligns, numa_nodes
from trainyard.specs import Cluster, Pool
from trainyard.specs.releases import Facts, release

SHARED = frozenset({"macvlan", "rdma-shared"})
"""Ways of attaching in which pods share a NIC's RDMA device."""

SHARED_PODS = 64
"""Pods of one node that may share a NIC's RDMA device (`rdmaHcaMax` of the RDMA shared device plugin)."""

SHARED_PREFIX = "rdma"
"""What the RDMA shared device plugin advertises under (k8s-rdma-shared-dev-plugin v1.5.3 pkg/types/types.go)."""

FEW = 2
"""NUMA nodes up to which devices of every rail may say where they hang: the kubelet walks through all combinations."""


def advertiser(cluster: Cluster) -> str | None:
    """Return the operator of ours that advertises the fabric's NICs, or None where somebody else does.

    What brings another project along leaves the work to it where that is installed by itself.
    """
    way = attach(cluster)
    for name, choice in cluster.operators.items():
        facts = release(name)
        if choice.managed and facts is not None and way in facts.attaches and not leaves(cluster, facts, way):
            return name
    return None


def leaves(cluster: Cluster, facts: Facts, way: str) -> bool:
    """Whether an operator leaves a way of attaching to a project that it could bring along, and that is there."""
    others = (release(bundle.project) for bundle in facts.bundles if bundle.project in cluster.operators)
    return any(way in other.attaches for other in others if other is not None)


def resource_prefix(cluster: Cluster) -> str | None:
    """Return the prefix under which our operator advertises NICs; None where none of ours does."""
    name = advertiser(cluster)
    facts = release(name) if name else None
    if name is None or facts is None:
        return None
    return SHARED_PREFIX if attach(cluster) in SHARED else facts.prefix(cluster.operators[name].values)


def resource(cluster: Cluster, rail: int) -> str:
    """Return the extended resource that pods request for a NIC of a rail: as the fabric says, else as ours name it."""
    said = cluster.fabric.resources if cluster.fabric else ()
    if said:
        place = every_rail(cluster).index(rail)
        return said[min(place, len(said) - 1)]
    return f"{resource_prefix(cluster) or 'unknown'}/rail_{rail}"


def pool_resource(cluster: Cluster, rail: int) -> str:
    """Return a rail's resource as device policies name it, without the prefix.

    Dashes are refused there (sriov-network-operator v1.6.0 pkg/webhook/validate.go: `[a-zA-Z0-9_]+`).
    """
    return resource(cluster, rail).partition("/")[2]


def requests(cluster: Cluster, taken: Iterable[int]) -> dict[str, int]:
    """Return the device requests of a pod on these rails: one each; a resource shared by all rails only once."""
    counts = Counter(resource(cluster, rail) for rail in taken)
    return dict.fromkeys(counts, 1) if attach(cluster) in SHARED else dict(counts)


def per_node(cluster: Cluster, pool_name: str) -> dict[str, int]:
    """Return how many devices of each resource a node of the pool has."""
    if attach(cluster) == HOST:
        return {}
    pool = cluster.pools[pool_name]
    counts: Counter[str] = Counter()
    for rail in rails(cluster, pool_name):
        counts[resource(cluster, rail)] += functions_per_node(cluster, pool, rail)
    return dict.fromkeys(counts, SHARED_PODS) if attach(cluster) in SHARED else dict(counts)


def functions_per_nic(cluster: Cluster, pool: Pool, rail: int) -> int:
    """Return how many virtual functions are made of each NIC of a rail; a whole NIC counts as one.

    Of one resource for all it is one, or a pod might get two functions of one NIC: the device plugin offers the
    kubelet no choice (sriov-network-device-plugin v3.9 pkg/resources/server.go).
    """
    said = cluster.fabric.virtual_functions if cluster.fabric else None
    if attach(cluster) != "sriov":
        return 1
    if said is not None or one_for_all(cluster):
        return said or 1
    return min((nic.virtual_functions for nic in pool.node.nics if nic.rail == rail), default=0) or 1


def functions_per_node(cluster: Cluster, pool: Pool, rail: int) -> int:
    """Return how many pods of one node can have a NIC of the rail at a time."""
    if attach(cluster) in SHARED:
        return SHARED_PODS
    return (sum(nic.rail == rail for nic in pool.node.nics) or 1) * functions_per_nic(cluster, pool, rail)


def shares_by_name(cluster: Cluster) -> bool:
    """Whether the plugin that shares RDMA devices of InfiniBand finds them by the names of their network devices."""
    fabric = cluster.fabric
    infiniband = fabric is not None and fabric.type == "infiniband"
    return infiniband and attach(cluster) == "rdma-shared" and advertiser(cluster) is not None and not by_type(cluster)


def needs_ipoib(cluster: Cluster) -> bool:
    """Whether NICs of InfiniBand need network devices: as interfaces of pods, or because NICs are found by them."""
    fabric = cluster.fabric
    interfaces = fabric is not None and fabric.type == "infiniband" and fabric.attach in SECONDARY
    return interfaces or shares_by_name(cluster)


def by_type(cluster: Cluster) -> bool:
    """Whether NICs that pods share are found by their PCI device IDs: one resource names all, and not all have names.

    Without a network device the plugin knows vendor, device ID and driver alone (k8s-rdma-shared-dev-plugin v1.5.3
    pkg/resources/pci_net_device.go NewPciNetDevice).
    """
    found = [nic for name, pool in cluster.pools.items() if on_fabric(cluster, name) for nic in pool.node.nics]
    return attach(cluster) == "rdma-shared" and one_for_all(cluster) and not all(nic.interface for nic in found)


def reports_numa(cluster: Cluster, pool_name: str) -> bool:
    """Whether the devices tell the kubelet of the pool's nodes which NUMA node they hang on.

    A device of each rail hangs on one node only, so a pod wider than that is refused where the kubelet aligns, and on
    many NUMA nodes the combinations freeze it (kubernetes v1.35 pkg/kubelet/cm/topologymanager/policy.go). One
    resource for all is aligned as GPUs are. What others advertise is taken to say it, as the SR-IOV device plugin does
    unless told otherwise; shared devices never do (k8s-rdma-shared-dev-plugin v1.5.3). Whole NICs have
    one configuration for all pools.
    """
    fabric = cluster.fabric
    if fabric is None or attach(cluster) in {*SHARED, HOST}:
        return False
    if fabric.exclude_topology is not None or advertiser(cluster) is None:
        return not fabric.exclude_topology
    alike = cluster.pools if attach(cluster) == "hostdev" else (pool_name,)
    single = one_for_all(cluster) and fabric.virtual_functions in {None, 1}
    nodes = [cluster.pools[name] for name in alike if on_fabric(cluster, name)]
    return all(len(numa_nodes(pool.node)) <= FEW and (single or not aligns(pool)) for pool in nodes)
