"""The training fabric as the platform plans it: who is on it, one subnet a rail, and what is wrong with that."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding
from trainyard.sizing.fabric import RDMA, SECONDARY, functions_per_node, on_fabric, rails
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Nic
from trainyard.specs.sources import Source

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

KEPT = 3
"""Addresses of a subnet that no pod gets: network, broadcast, and the first one, which switches like to have."""


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


def subnets(fabric: Fabric) -> tuple[Network, ...]:
    """Split the fabric's addresses into one subnet of equal size for each rail; none without addresses.

    Raises ValueError where the range is none or too small.
    """
    if fabric.addresses is None:
        return ()
    whole: Network = ipaddress.ip_network(fabric.addresses)
    bits = (fabric.rails - 1).bit_length()
    if whole.prefixlen + bits > whole.max_prefixlen - 2:
        raise ValueError(f"{fabric.addresses} has no room for {fabric.rails} subnets")
    found: list[Network] = list(whole.subnets(prefixlen_diff=bits))
    return tuple(found[: fabric.rails])


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what is wrong with the fabric's rails and addresses; ids are the catalogue's."""
    fabric = cluster.fabric
    if fabric is None or fabric.type not in RDMA or fabric.attach == "none":
        return
    yield from check_rails(cluster, fabric, source)
    if fabric.attach not in SECONDARY:
        return
    if fabric.addresses is None:
        message = f"attach {fabric.attach!r} gives pods interfaces, but there are no addresses for them; add addresses"
        yield problem("rdma-ipam-capacity", message, source, ("fabric", "attach"))
        return
    try:
        ranges = subnets(fabric)
    except ValueError:
        message = f"addresses {fabric.addresses!r} cannot be shared by {fabric.rails} rails; write a larger network"
        yield problem("rdma-ipam-capacity", message, source, ("fabric", "addresses"))
        return
    yield from check_capacity(cluster, ranges, source)
    yield from check_overlap(cluster, ipaddress.ip_network(fabric.addresses), source)


def check_rails(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield pools on the fabric that lack a NIC on one of its rails."""
    if not pools(cluster):
        message = f"no pool has a NIC that speaks {link(fabric)}; name the pools, or correct the type"
        yield problem("rdma-sriov-policy-isrdma", message, source, ("fabric", "type"))
    for name, pool in pools(cluster).items():
        missing = [rail for rail in rails(cluster, name) if not nics(pool, fabric, rail)]
        if missing:
            message = f"rails is {fabric.rails}, but pool {name!r} has no {link(fabric)} NIC on rail {missing[0]}"
            yield problem("rdma-sriov-policy-isrdma", message, source, ("fabric", "rails"))


def check_capacity(cluster: Cluster, ranges: tuple[Network, ...], source: Source) -> Iterator[Finding]:
    """Yield the first rail whose subnet has fewer addresses than the nodes can carry interfaces at once."""
    for rail, subnet in enumerate(ranges):
        carried = sum(pool.nodes * functions_per_node(cluster, pool, rail) for pool in pools(cluster).values())
        room = subnet.num_addresses - KEPT
        if room < carried:
            message = f"rail {rail} has {room} addresses in {subnet}, but nodes carry {carried} interfaces; widen it"
            yield problem("rdma-ipam-capacity", message, source, ("fabric", "addresses"))
            return


def check_overlap(cluster: Cluster, own: Network, source: Source) -> Iterator[Finding]:
    """Yield ranges of the cluster that share addresses with the fabric."""
    for name in ("pods", "services", "nodes") if cluster.cidrs else ():
        text = getattr(cluster.cidrs, name)
        other: Network | None = ipaddress.ip_network(text) if text else None
        if other is not None and own.version == other.version and own.overlaps(other):
            message = f"addresses {own} overlap {name} {other} of the cluster; choose a range of their own"
            yield problem("rdma-ipam-overlap", message, source, ("fabric", "addresses"))


def problem(rule: str, message: str, source: Source, path: Path) -> Finding:
    """Return a finding at a field of the cluster's file."""
    return Finding(rule, "spec", message, source.location(path), path=".".join(str(part) for part in path))
