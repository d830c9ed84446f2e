"""NetworkPolicies: ports, peers and address blocks.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go ValidateNetworkPolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.pods.containers import PROTOCOLS
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, fill_absent, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go"
POLICY = Rule(
    "core/network-policy",
    f"{SOURCE} ValidateNetworkPolicySpec",
    title="A NetworkPolicy has valid selectors and policy types.",
    fix="set policyTypes to Ingress, Egress or both, and correct the selector",
)
PORT = Rule(
    "core/network-policy-port",
    f"{SOURCE} ValidateNetworkPolicyPort",
    title="Ports of a NetworkPolicy are valid, and endPort is not below port.",
    fix="use port numbers from 1 to 65535, or a port's name",
)
PEER = Rule(
    "core/network-policy-peer",
    f"{SOURCE} ValidateNetworkPolicyPeer",
    title="A peer of a NetworkPolicy is either an ipBlock or selectors.",
    fix="use ipBlock alone, or podSelector and namespaceSelector",
)
BLOCK = Rule(
    "core/network-policy-block",
    f"{SOURCE} ValidateIPBlock",
    title="The ipBlock of a NetworkPolicy is a CIDR that contains its exceptions.",
    fix="write a CIDR such as 10.0.0.0/8, and exceptions inside it",
)

TYPES = ("Ingress", "Egress")


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the directions of a NetworkPolicy and the protocols of its ports."""
    if (spec := child(value, "spec")) is None:
        return
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if count(spec, "egress") else ["Ingress"]
    for direction in ("ingress", "egress"):
        for _, rule in each(spec, direction):
            for _, port in each(rule, "ports"):
                fill_absent(port, "protocol", "TCP")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a NetworkPolicy; an update may change everything."""
    spec = inner(value, "spec")
    strict, known = minor(kubernetes) >= 36, _blocks(inner(old or {}, "spec"))
    yield from check_label_selector(spec.get("podSelector"), ("spec", "podSelector"))
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in each(spec, direction):
            path = ("spec", direction, index)
            for place, port in each(rule, "ports"):
                yield from _check_port(port, (*path, "ports", place))
            for place, peer in each(rule, peers):
                yield from _check_peer(peer, (*path, peers, place), strict=strict, known=known)
    if (kinds := count(spec, "policyTypes")) > len(TYPES):
        yield POLICY.too_many(("spec", "policyTypes"), kinds, len(TYPES))
    for index, kind in texts(spec, "policyTypes"):
        if kind not in TYPES:
            yield POLICY.unsupported(("spec", "policyTypes", index), kind, TYPES)


def _blocks(spec: Object) -> set[str]:
    blocks = [
        inner(peer, "ipBlock")
        for direction, peers in (("ingress", "from"), ("egress", "to"))
        for _, rule in each(spec, direction)
        for _, peer in each(rule, peers)
    ]
    return {entry for block in blocks for entry in [text(block, "cidr"), *(hole for _, hole in texts(block, "except"))]}


def _check_port(entry: Object, path: Path) -> Iterator[Problem]:
    protocol, port, end = entry.get("protocol"), entry.get("port"), number(entry, "endPort")
    if protocol is not None and protocol not in PROTOCOLS:
        yield PORT.unsupported((*path, "protocol"), protocol, PROTOCOLS)
    if port is not None and (detail := names.port(port)):
        yield PORT.invalid((*path, "port"), port, detail)
    if end is None:
        return
    at = (*path, "endPort")
    first = number(entry, "port")
    if first is None:
        yield PORT.invalid(at, end, "may not be specified without a numeric port")
        return
    if end < first:
        yield PORT.invalid(at, end, "must be greater than or equal to port")
    if detail := names.port_number(end):
        yield PORT.invalid(at, end, detail)


def _check_peer(peer: Object, path: Path, *, strict: bool, known: set[str]) -> Iterator[Problem]:
    block = child(peer, "ipBlock")
    selectors = [field for field in ("podSelector", "namespaceSelector") if child(peer, field) is not None]
    for field in selectors:
        yield from check_label_selector(peer[field], (*path, field))
    if block is None:
        if not selectors:
            yield PEER.required(path, "must specify a peer")
        return
    if selectors:
        yield PEER.forbidden(path, "may not specify both ipBlock and another peer")
    yield from _check_block(block, (*path, "ipBlock"), strict=strict, known=known)


def _check_block(block: Object, path: Path, *, strict: bool, known: set[str]) -> Iterator[Problem]:
    cidr = text(block, "cidr")
    if not cidr:
        if not block.get("cidr"):
            yield BLOCK.required((*path, "cidr"))
        return
    if detail := addresses.network(cidr, strict=strict, known=known):
        yield BLOCK.invalid((*path, "cidr"), cidr, detail)
    outer = addresses.parse_network(cidr)
    for index, hole in texts(block, "except"):
        at = (*path, "except", index)
        if detail := addresses.network(hole, strict=strict, known=known):
            yield BLOCK.invalid(at, hole, detail)
            continue
        found = addresses.parse_network(hole)
        if outer is not None and found is not None and not addresses.is_strictly_within(found, outer):
            yield BLOCK.invalid(at, hole, "must be a strict subset of cidr")
