"""The training fabric as the platform plans it: who is on it, and one subnet a rail."""

from __future__ import annotations

import ipaddress

from trainyard.render.sizing.fabrics.devices import functions_per_node
from trainyard.render.sizing.fabrics.rails import SECONDARY, every_rail, network, on_fabric, one_for_all, rails
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Nic

NV_IPAM, WHEREABOUTS = "network-operator", "whereabouts"
"""Operators that bring a plugin which numbers second interfaces."""

KEPT = 3
"""Addresses of a subnet that no pod gets: network, broadcast, and the first one, which switches like to have."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def link(fabric: Fabric) -> str:
    """Return the link type of the fabric's NICs: `ethernet` or `infiniband`."""
    return "infiniband" if fabric.type == "infiniband" else "ethernet"


def pools(cluster: Cluster) -> dict[str, Pool]:
    """Return the pools whose pods can be attached to the fabric, in the cluster's order."""
    return {name: pool for name, pool in cluster.pools.items() if on_fabric(cluster, name)}


def nics(pool: Pool, fabric: Fabric, rail: int) -> tuple[Nic, ...]:
    """Return the NICs of one rail that a node of the pool has and that can speak the fabric's link type."""
    return tuple(nic for nic in pool.node.nics if nic.rail == rail and nic.link in {link(fabric), "either"})


def teams(cluster: Cluster) -> tuple[str, ...]:
    """Return the teams whose pods may want interfaces on the fabric: those with quota on one of its pools, sorted."""
    if cluster.fabric is None or cluster.fabric.attach not in SECONDARY:
        return ()
    there = set(pools(cluster))
    queues = [queue for queue in cluster.queues.values() if there & set(queue.nominal_quota)]
    return tuple(sorted({team for queue in queues for team in queue.teams}))


def networks(cluster: Cluster) -> dict[str, tuple[int, ...]]:
    """Return the networks that pods are attached to, each with its rails."""
    found: dict[str, tuple[int, ...]] = {}
    for rail in every_rail(cluster):
        name = network(cluster, rail)
        found[name] = (*found.get(name, ()), rail)
    return found


def subnets(cluster: Cluster) -> dict[str, Network]:
    """Split the fabric's addresses into one subnet of equal size for each network; none without addresses.

    Where one resource is for all rails, one subnet is too: nobody knows which NIC a pod gets. Raises ValueError where
    the range is none or too small.
    """
    fabric, every = cluster.fabric, every_rail(cluster)
    if fabric is None or fabric.addresses is None or not every:
        return {}
    whole: Network = ipaddress.ip_network(fabric.addresses)
    bits = 0 if one_for_all(cluster) else max(every).bit_length()
    if whole.prefixlen + bits > whole.max_prefixlen - 2:
        raise ValueError(f"{fabric.addresses} has no room for {len(every)} subnets")
    if one_for_all(cluster):
        return {network(cluster, every[0]): whole}
    found: list[Network] = list(whole.subnets(prefixlen_diff=bits))
    return {network(cluster, rail): found[rail] for rail in every}


def by_nv_ipam(cluster: Cluster) -> bool:
    """Whether nv-ipam numbers the interfaces, which the network operator brings along; else Whereabouts does."""
    return cluster.installs(NV_IPAM) and (WHEREABOUTS not in cluster.operators or is_routed(cluster))


def is_routed(cluster: Cluster) -> bool:
    """Whether every node has a block of each rail, behind a gateway of its own."""
    return cluster.fabric is not None and cluster.fabric.node_prefix is not None


def blocks(subnet: Network, prefix: int) -> int:
    """Return how many blocks of a prefix a rail's subnet has; none where it is smaller than one."""
    return 0 if prefix < subnet.prefixlen or prefix > subnet.max_prefixlen else int(2 ** (prefix - subnet.prefixlen))


def pods_of_block(subnet: Network, prefix: int) -> int:
    """Return how many addresses of a node's block are for pods: all but the gateway, and of a wide one its ends.

    nvidia-k8s-ipam v0.4.0 api/v1alpha1/helpers.go GetPossibleIPCount.
    """
    whole = 2 ** (subnet.max_prefixlen - prefix)
    return int(whole - 1 if whole <= 2 else whole - 3)


def carried_interfaces(cluster: Cluster, name: str) -> dict[str, int]:
    """Return how many interfaces of a network a node of each pool can carry at once."""
    return {
        pool_name: sum(
            functions_per_node(cluster, pool, rail)
            for rail in networks(cluster)[name]
            if rail in rails(cluster, pool_name)
        )
        for pool_name, pool in pools(cluster).items()
    }


def addresses(subnet: Network) -> int:
    """Return how many addresses of a subnet are for pods."""
    return max(0, int(subnet.num_addresses) - KEPT)


def addresses_per_node(cluster: Cluster, pool_name: str) -> dict[str, int]:
    """Return how many addresses of each network are in the block of a node of the pool; none where there are no blocks.

    nv-ipam gives a node one block of a flat range, or the node's own block of a rail that is routed.
    """
    fabric = cluster.fabric
    if fabric is None or fabric.attach not in SECONDARY or not by_nv_ipam(cluster) or pool_name not in pools(cluster):
        return {}
    if fabric.node_prefix is not None:
        return {name: pods_of_block(subnet, fabric.node_prefix) for name, subnet in numbered_networks(cluster).items()}
    return {name: block_size(cluster, name) for name in numbered_networks(cluster)}


def shared_addresses(cluster: Cluster) -> dict[str, int]:
    """Return how many addresses all pods share of each network that has no blocks, as Whereabouts gives them out."""
    fabric = cluster.fabric
    if fabric is None or fabric.attach not in SECONDARY or by_nv_ipam(cluster):
        return {}
    return {name: addresses(subnet) for name, subnet in numbered_networks(cluster).items()}


def numbered_networks(cluster: Cluster) -> dict[str, Network]:
    """Return the networks with their subnets; none where the range is too small for them, which is said elsewhere."""
    try:
        return subnets(cluster)
    except ValueError:
        return {}


def block_size(cluster: Cluster, name: str) -> int:
    """Return how many addresses a node's block of a flat range has: as many as any node carries interfaces."""
    return max(carried_interfaces(cluster, name).values(), default=1)
