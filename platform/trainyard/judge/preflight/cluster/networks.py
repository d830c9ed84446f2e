"""What is wrong with the rails and addresses of a cluster's training fabric."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster import routes
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics.plan import (
    Network,
    addresses,
    carried_interfaces,
    is_routed,
    link,
    nics,
    pools,
    subnets,
)
from trainyard.render.sizing.fabrics.rails import SECONDARY, every_rail, has_verbs, rails
from trainyard.specs import Cluster, Fabric
from trainyard.specs.sources import Source

CAPACITY = Rule(
    id="rdma-ipam-capacity",
    title="Every rail has an address for each interface of its nodes.",
    why="a pod without an address stays in ContainerCreating",
    fix="use a larger range of addresses",
    source="k8snetworkplumbingwg/whereabouts v0.9.4 doc/extended-configuration.md",
)
RAILS = Rule(
    id="rdma-sriov-policy-isrdma",
    title="Every pool on the fabric has a NIC on each of its rails.",
    why="pods that request the rail's device stay pending on nodes without it",
    fix="correct rails, the link type, or the NICs of the shape",
    source="k8snetworkplumbingwg/sriov-network-operator v1.6.0 api/v1/sriovnetworknodepolicy_types.go",
)
OVERLAP = Rule(
    id="rdma-ipam-overlap",
    title="The fabric's addresses overlap no other network of the cluster.",
    why="traffic to pods, services or nodes with such an address would leave by the wrong interface",
    fix="use a separate range",
    source="docs/fabric.md",
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems with the fabric's rails and addresses; ids are the catalogue's."""
    fabric = cluster.fabric
    if fabric is None or not has_verbs(cluster):
        return
    yield from check_rails(cluster, fabric, source)
    if fabric.attach not in SECONDARY:
        return
    if fabric.addresses is None:
        message = f"attach {fabric.attach!r} gives pods interfaces, which need IP addresses; set addresses"
        yield CAPACITY.at(source, ("fabric", "attach"), message)
        return
    try:
        ranges = subnets(cluster)
    except ValueError:
        count = len(every_rail(cluster))
        message = f"addresses {fabric.addresses!r} are too few for {count} rails; use a larger network"
        yield CAPACITY.at(source, ("fabric", "addresses"), message)
        return
    if not is_routed(cluster):
        yield from check_capacity(cluster, ranges, source)
    yield from routes.check(cluster, ranges, source)
    for at, text in (("addresses", fabric.addresses), *(("routes", text) for text in fabric.routes)):
        yield from check_overlap(cluster, at, ipaddress.ip_network(text), source)


def check_rails(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield pools on the fabric that lack a NIC on one of its rails; those without any are the inventory's to tell."""
    if not pools(cluster):
        message = f"no pool has a {link(fabric)} NIC; list the fabric's pools, or correct its type"
        yield RAILS.at(source, ("fabric", "type"), message)
    for name, pool in pools(cluster).items():
        every = rails(cluster, name)
        missing = [rail for rail in every if not nics(pool, fabric, rail)]
        if missing and pool.node.nics:
            message = f"rails is {len(every)}, but pool {name!r} has no {link(fabric)} NIC on rail {missing[0]}"
            yield RAILS.at(source, ("fabric", "rails"), message)


def check_capacity(cluster: Cluster, ranges: dict[str, Network], source: Source) -> Iterator[Finding]:
    """Yield the first network whose subnet has fewer addresses than the nodes can carry interfaces at once."""
    for name, subnet in ranges.items():
        wanted = sum(pools(cluster)[pool].nodes * count for pool, count in carried_interfaces(cluster, name).items())
        room = addresses(subnet)
        if room < wanted:
            message = (
                f"{name} has {room} addresses in {subnet}, but its nodes have {wanted} interfaces; use a larger range"
            )
            yield CAPACITY.at(source, ("fabric", "addresses"), message)
            return


def check_overlap(cluster: Cluster, at: str, own: Network, source: Source) -> Iterator[Finding]:
    """Yield ranges of the cluster that share addresses with the fabric, or that a route of its own would lead away."""
    for name in ("pods", "services", "nodes") if cluster.cidrs else ():
        text = getattr(cluster.cidrs, name)
        other: Network | None = ipaddress.ip_network(text) if text else None
        if other is not None and own.version == other.version and own.overlaps(other):
            message = f"{at} {own} overlap the cluster's {name} {other}; use another range"
            yield OVERLAP.at(source, ("fabric", at), message)
