"""What NetworkPolicies let pass: which pods a policy selects, and which peers and ports its rules name.

Policies only add to each other: a pod that some select may do what any of these allows, and nothing else.
Source: kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go; pkg/apis/networking/v1/defaults.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from trainyard.base.labels import NAMESPACE
from trainyard.base.manifests import mapping
from trainyard.upstream.apiserver.core import selectors

Direction = Literal["Ingress", "Egress"]

Rule = Mapping[str, Any]

PEERS = {"Ingress": "from", "Egress": "to"}


class Pod(NamedTuple):
    """Pods at one end of a connection, as far as they are known."""

    namespace: str
    labels: Mapping[str, str] | None = None
    """Their labels; None where nobody knows them."""
    range: str | None = None
    """The range that their addresses are in, where it is known."""


def limits(spec: Mapping[str, Any], direction: Direction) -> bool:
    """Whether a policy limits a direction for the pods that it selects."""
    types = spec.get("policyTypes")
    if isinstance(types, list) and types:
        return direction in types
    return direction == "Ingress" or bool(spec.get("egress"))


def rules(spec: Mapping[str, Any], direction: Direction) -> Iterator[Rule]:
    """Yield the rules of a policy for a direction."""
    found = spec.get(direction.lower())
    yield from (rule for rule in found if isinstance(rule, dict)) if isinstance(found, list) else ()


def selects(spec: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a policy selects pods of its namespace with these labels; not where its selector is malformed."""
    selector = spec.get("podSelector")
    return not selector or (isinstance(selector, dict) and selectors.matches(selector, dict(labels)) is True)


def may_select(selector: Any, labels: Mapping[str, str]) -> bool:
    """Whether a selector may select pods with these labels, and with those that their controller adds.

    Labels of controllers have a group before their name, as `batch.kubernetes.io/job-name` has.
    """
    found = mapping(selector)
    wanted = {key: value for key, value in mapping(found.get("matchLabels")).items() if key in labels or "/" not in key}
    listed = found.get("matchExpressions")
    terms = [
        term
        for term in (listed if isinstance(listed, list) else ())
        if isinstance(term, dict) and (term.get("key") in labels or "/" not in str(term.get("key")))
    ]
    return selectors.matches({"matchLabels": wanted, "matchExpressions": terms}, dict(labels)) is not False


def may_pass(rule: Rule, direction: Direction, own: str, peer: Pod) -> bool:
    """Whether a rule of a policy in namespace `own` may be about these peers, on whichever ports.

    Labels that nobody knows may be the ones that it wants.
    """
    peers = rule.get(PEERS[direction])
    if not peers:
        return True
    return not isinstance(peers, list) or any(is_peer(item, own, peer) for item in peers if isinstance(item, dict))


def is_peer(item: Mapping[str, Any], own: str, peer: Pod) -> bool:
    """Whether one peer of a rule may be these pods."""
    block = item.get("ipBlock")
    if isinstance(block, dict):
        return peer.range is None or overlaps(block, peer.range)
    spaces = item.get("namespaceSelector")
    if spaces is None and peer.namespace != own:
        return False
    if spaces and isinstance(spaces, dict) and names_others(spaces, peer.namespace):
        return False
    return peer.labels is None or may_select(item.get("podSelector"), peer.labels)


def names_others(selector: Mapping[str, Any], namespace: str) -> bool:
    """Whether a selector leaves a namespace out by its name; its other labels are not known."""
    by_name = {key: value for key, value in mapping(selector.get("matchLabels")).items() if key == NAMESPACE}
    terms = selector.get("matchExpressions")
    named = [term for term in terms or () if isinstance(term, dict) and term.get("key") == NAMESPACE]
    wanted = {"matchLabels": by_name, "matchExpressions": named}
    return selectors.matches(wanted, {NAMESPACE: namespace}) is False


def overlaps(block: Mapping[str, Any], cidr: str) -> bool:
    """Whether a block has addresses of a range: not where one of its exceptions takes the range out."""
    try:
        wanted, given = ipaddress.ip_network(cidr), ipaddress.ip_network(str(block.get("cidr")), strict=False)
        without = [ipaddress.ip_network(str(item), strict=False) for item in block.get("except") or ()]
    except ValueError:
        return True
    if wanted.version != given.version or not wanted.overlaps(given):
        return False
    return not any(wanted.version == item.version and is_within(wanted, item) for item in without)


def is_within(inner: Any, outer: Any) -> bool:
    """Whether all addresses of a range are in another of its family."""
    return bool(inner.subnet_of(outer))


DNS = (53, 5353, 8053)
"""Ports of DNS servers, and of their pods at OpenShift (5353) and Gardener (8053)."""

SERVERS = ("kube-system", "openshift-dns")
"""Namespaces in which DNS servers run."""


def may_ask_names(rule: Rule, own: str) -> bool:
    """Whether a rule for egress may let pods of a namespace ask a DNS server, by UDP as resolvers do."""
    return asks_names(rule, own) and any(port_has(port, "UDP") for port in ports_of(rule))


def asks_names(rule: Rule, own: str) -> bool:
    """Whether a rule may be about DNS servers, whatever the protocol."""
    there = any(may_pass(rule, "Egress", own, Pod(namespace)) for namespace in SERVERS)
    return there and any(port_has(port, None) for port in ports_of(rule))


def ports_of(rule: Rule) -> list[Mapping[str, Any]]:
    """Return the ports of a rule; one that has none is about all, as an empty port is."""
    listed = rule.get("ports")
    found: list[Mapping[str, Any]] = []
    found += [port for port in listed if isinstance(port, dict)] if isinstance(listed, list) else ()
    return found or [{"protocol": None}]


def few_ports(rule: Rule) -> list[int]:
    """Return the ports of a rule that is about nothing but single ports; none where it is about all, or a range."""
    found = [(port.get("port"), port.get("endPort")) for port in ports_of(rule)]
    return [number for number, end in found if isinstance(number, int)] if all_single(found) else []


def all_single(found: list[tuple[Any, Any]]) -> bool:
    """Whether all ports are numbers without an end."""
    return all(isinstance(number, int) and end is None for number, end in found)


def port_has(port: Mapping[str, Any], protocol: str | None) -> bool:
    """Whether a port of a rule may be one of a DNS server; without a protocol it is one of TCP."""
    if protocol is not None and port.get("protocol", "TCP") not in (protocol, None):
        return False
    number, end = port.get("port"), port.get("endPort")
    if not isinstance(number, int):
        return True  # all ports, or one by its name
    return any(number <= one <= (end if isinstance(end, int) else number) for one in DNS)
