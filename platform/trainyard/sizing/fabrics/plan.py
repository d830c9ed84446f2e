"""The training fabric as the platform plans it: who is on it, and one subnet a rail."""

from __future__ import annotations

import ipaddress

from trainyard.sizing.fabrics.rails import SECONDARY, every_rail, network, on_fabric, one_for_all
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Nic

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
    fabric, rails = cluster.fabric, every_rail(cluster)
    if fabric is None or fabric.addresses is None or not rails:
        return {}
    whole: Network = ipaddress.ip_network(fabric.addresses)
    bits = 0 if one_for_all(cluster) else max(rails).bit_length()
    if whole.prefixlen + bits > whole.max_prefixlen - 2:
        raise ValueError(f"{fabric.addresses} has no room for {len(rails)} subnets")
    if one_for_all(cluster):
        return {network(cluster, rails[0]): whole}
    found: list[Network] = list(whole.subnets(prefixlen_diff=bits))
    return {network(cluster, rail): found[rail] for rail in rails}
