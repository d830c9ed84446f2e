"""The address ranges of a cluster: apart from each other, and large enough for its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import combinations

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import Source

NODE_BLOCK = {4: 24, 6: 64}
"""Length of each node's block of pod addresses (kubernetes v1.35 cmd/kube-controller-manager/app/core.go)."""

LEAST_SERVICES = 8
"""Addresses that the API server asks of the range of Services (kubernetes v1.35 pkg/controlplane/services.go)."""

OVERLAP = Rule(
    id="spec/cidr-overlap",
    title="The address ranges of pods, Services and nodes do not overlap.",
    why="traffic to a shared address takes the wrong route, so names or nodes become unreachable",
    fix="use separate ranges",
    source="kubernetes v1.35 cmd/kube-controller-manager/app/core.go filterServiceCIDR; kubeadm, networking",
)
RESERVED = Rule(
    id="spec/cidr-reserved",
    title="The address ranges of a cluster and its fabric are not reserved for other purposes.",
    why="nodes answer or drop traffic to reserved addresses, so pods and Services become unreachable",
    fix="use private ranges, such as those of 10.0.0.0/8",
    source="RFC 6890 sections 2.2.2, 2.2.3; RFC 5771; kubernetes v1.35 pkg/apis/core/validation ValidateNonSpecialIP",
)
SIZE = Rule(
    id="spec/cidr-size",
    title="The address ranges of a cluster are large enough for its nodes, pods and Services.",
    why="nodes without a block of pod addresses stay NotReady, and their pods pending",
    fix="use a wider range; waive this if the network plugin gives nodes smaller blocks",
    source="kubernetes v1.35 pkg/controller/nodeipam/ipam/cidrset/cidr_set.go; pkg/controlplane/services.go",
    may_warn=True,
)

SPECIAL = {
    "0.0.0.0/8": "this host",
    "127.0.0.0/8": "this host",
    "169.254.0.0/16": "link-local addresses",
    "224.0.0.0/4": "multicast",
    "::1/128": "this host",
    "fe80::/10": "link-local addresses",
    "ff00::/8": "multicast",
}
"""Ranges that are no host's of a network (RFC 6890, RFC 5771, RFC 4291 section 2.4)."""

Range = IPv4Network | IPv6Network


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield ranges that are reserved, that overlap, and that are too small."""
    yield from check_reserved(cluster, source)
    if cluster.cidrs is None:
        return
    fields = {"pods": cluster.cidrs.pods, "services": cluster.cidrs.services, "nodes": cluster.cidrs.nodes}
    ranges = {name: ip_network(text) for name, text in fields.items() if text}
    for (one, own), (other, taken) in combinations(ranges.items(), 2):
        if not (other == "nodes" and one == "pods" and in_one_network(cluster)) and overlap(own, taken):
            message = f"{other} {taken} overlaps {one} {own}; use separate ranges"
            yield OVERLAP.at(source, ("cidrs", other), message, shared=[("cidrs", one)])
    nodes = sum(pool.nodes for pool in cluster.pools.values())
    yield from check_pods(cluster, ranges["pods"], nodes, source)
    services = ranges["services"]
    if services.num_addresses < LEAST_SERVICES:
        message = (
            f"services {services} has {services.num_addresses} addresses, but needs {LEAST_SERVICES}; use a larger "
            "range"
        )
        yield SIZE.at(source, ("cidrs", "services"), message)
    if "nodes" in ranges and ranges["nodes"].num_addresses < nodes:
        message = (
            f"nodes {ranges['nodes']} has {ranges['nodes'].num_addresses} addresses for {nodes} nodes; use a larger "
            "range"
        )
        yield SIZE.at(source, ("cidrs", "nodes"), message)


def check_reserved(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield ranges that mean this host, this link, or groups of hosts."""
    named: list[tuple[tuple[str, str], str | None]] = [
        (("cidrs", key), getattr(cluster.cidrs, key, None)) for key in ("pods", "services", "nodes")
    ]
    if cluster.fabric is not None:
        named.append((("fabric", "addresses"), cluster.fabric.addresses))
    for path, text in named:
        found = (network for network in SPECIAL if text and overlap(ip_network(text), ip_network(network)))
        if (reserved := next(found, None)) is not None:
            message = f"{path[-1]} {text} is in {reserved}, reserved for {SPECIAL[reserved]}; use a private range"
            yield RESERVED.at(source, path, message)


def check_pods(cluster: Cluster, pods: Range, nodes: int, source: Source) -> Iterator[Finding]:
    """Yield a range with fewer addresses than nodes, or, as a warning, fewer blocks of the usual length."""
    if pods.num_addresses < nodes:
        message = f"pods {pods} has {pods.num_addresses} addresses for {nodes} nodes; use a larger range"
        yield SIZE.at(source, ("cidrs", "pods"), message)
        return
    if in_one_network(cluster):
        return
    own = cluster.distribution.node_block if pods.version == 4 else None
    length = own or NODE_BLOCK[pods.version]
    blocks = 2 ** max(0, length - pods.prefixlen) if pods.prefixlen <= length else 0
    if blocks < nodes:
        message = (
            f"pods {pods} holds {blocks} blocks of /{length}, one per node, but there are {nodes} nodes; use a "
            "larger range"
        )
        yield SIZE.at(source, ("cidrs", "pods"), message, severity=Severity.WARNING)


def in_one_network(cluster: Cluster) -> bool:
    """Whether pods take their addresses from the network of the nodes."""
    return cluster.distribution.pods_in_node_network


def overlap(one: Range, other: Range) -> bool:
    """Whether two ranges share an address."""
    return one.version == other.version and one.overlaps(other)
