"""EndpointSlices, Endpoints and Nodes: objects that are mostly written by the cluster itself.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/discovery/validation/validation.go and
pkg/apis/core/validation/validation.go ValidateEndpoints, ValidateNode.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from trainyard.apiserver.core import addresses
from trainyard.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.apiserver.core.equality import check_immutable, differs
from trainyard.apiserver.core.pods.containers import PROTOCOLS
from trainyard.apiserver.core.pods.rules import CORE
from trainyard.apiserver.core.pods.scheduling import EFFECTS
from trainyard.apiserver.core.resourcenames import is_whole
from trainyard.apiserver.core.service import check_port_name
from trainyard.apiserver.core.shapes import Object, count, each, inner, number, text, texts
from trainyard.apiserver.meta import names
from trainyard.apiserver.meta.metadata import minor
from trainyard.apiserver.problems import Path, Problem, Rule

_DISCOVERY = "k8s.io/kubernetes v1.35.4 pkg/apis/discovery/validation/validation.go"
SLICE = Rule("core/endpoint-slice", f"{_DISCOVERY} ValidateEndpointSlice")
ENDPOINTS = Rule("core/endpoints", f"{CORE} ValidateEndpoints")
NODE = Rule("core/node", f"{CORE} ValidateNode")
IMMUTABLE = Rule("update/endpoint-slice", f"{_DISCOVERY} ValidateEndpointSliceUpdate")
NODE_UPDATE = Rule("update/node", f"{CORE} ValidateNodeUpdate")

TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS = 1000
_MOST_ADDRESSES = 100
_MOST_PORTS = 20000
_MOST_HINTS = 8


def check_slice(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield what is wrong with an EndpointSlice, and a change of its address type."""
    kind = value.get("addressType") or ""
    if kind not in TYPES:
        yield SLICE.unsupported(("addressType",), kind, TYPES)
    yield from _check_slice_ports(value)
    if old is None or differs(value.get("endpoints"), old.get("endpoints")):
        if (total := count(value, "endpoints")) > _MOST_ENDPOINTS:
            yield SLICE.too_many(("endpoints",), total, _MOST_ENDPOINTS)
        for index, endpoint in each(value, "endpoints"):
            yield from _check_endpoint(endpoint, kind, ("endpoints", index), strict=minor(kubernetes) >= 36)
    if old is not None:
        yield from check_immutable(kind, old.get("addressType"), ("addressType",), IMMUTABLE)


def _check_slice_ports(value: Object) -> Iterator[Problem]:
    if (total := count(value, "ports")) > _MOST_PORTS:
        yield SLICE.too_many(("ports",), total, _MOST_PORTS)
    seen: set[str] = set()
    for index, port in each(value, "ports"):
        path = ("ports", index)
        name = text(port, "name")
        yield from check_port_name(port, path, SLICE, required=False)
        if name in seen:
            yield SLICE.duplicate((*path, "name"), name)
        seen.add(name)
        yield from _check_protocol(port, path, SLICE)


def _check_protocol(port: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    protocol, application = port.get("protocol"), port.get("appProtocol")
    if protocol is not None and protocol not in PROTOCOLS:
        yield rule.unsupported((*path, "protocol"), protocol, PROTOCOLS)
    if application is not None and (detail := names.label_key(application)):
        yield rule.invalid((*path, "appProtocol"), application, detail)


def _check_endpoint(endpoint: Object, kind: object, path: Path, *, strict: bool) -> Iterator[Problem]:
    total = count(endpoint, "addresses")
    if not total:
        yield SLICE.required((*path, "addresses"), "must contain at least 1 address")
    elif total > _MOST_ADDRESSES:
        yield SLICE.too_many((*path, "addresses"), total, _MOST_ADDRESSES)
    for index, address in texts(endpoint, "addresses"):
        if detail := _address(address, kind, strict=strict):
            yield SLICE.invalid((*path, "addresses", index), address, detail)
    for field, rule in (("nodeName", names.dns_subdomain), ("hostname", names.dns_label)):
        name = endpoint.get(field)
        if name is not None and (detail := rule(name)):
            yield SLICE.invalid((*path, field), name, detail)
    hints = inner(endpoint, "hints")
    for field, rule in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        yield from _check_hints(hints, field, rule, (*path, "hints", field))


def _check_hints(hints: Object, field: str, rule: names.Format, path: Path) -> Iterator[Problem]:
    if (total := count(hints, field)) > _MOST_HINTS:
        yield SLICE.too_many(path, total, _MOST_HINTS)
    seen: set[str] = set()
    for index, hint in each(hints, field):
        name = text(hint, "name")
        if name in seen:
            yield SLICE.duplicate((*path, index, "name"), name)
        seen.add(name)
        if detail := rule(name):
            yield SLICE.invalid((*path, index, "name"), name, detail)


def _address(address: str, kind: object, *, strict: bool) -> str | None:
    if kind == "FQDN":
        name = address.removesuffix(".")
        if detail := names.fully_qualified(name, labels=2):
            return detail
        return next((detail for label in name.split(".") if (detail := names.dns_label(label))), None)
    if kind not in ("IPv4", "IPv6"):
        return None
    if detail := addresses.address(address, strict=strict or kind == "IPv6"):
        return detail
    found = addresses.parse(address)
    if kind == "IPv6" and isinstance(found, IPv6Address) and str(found) != address:
        return f"must be in canonical form ({found})"
    if addresses.is_v6(address) != (kind == "IPv6"):
        return f"must be an {kind} address"
    return addresses.endpoint(address)


def check_endpoints(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield what is wrong with Endpoints; unchanged subsets may stay as they are."""
    if old is not None and not differs(value.get("subsets"), old.get("subsets")):
        return
    strict = minor(kubernetes) >= 36
    for index, subset in each(value, "subsets"):
        path = ("subsets", index)
        if not count(subset, "addresses") and not count(subset, "notReadyAddresses"):
            yield ENDPOINTS.required(path, "must specify addresses or notReadyAddresses")
        for field in ("addresses", "notReadyAddresses"):
            for place, address in each(subset, field):
                yield from _check_address(address, (*path, field, place), strict=strict)
        ports = each(subset, "ports")
        for place, port in ports:
            at = (*path, "ports", place)
            yield from check_port_name(port, at, ENDPOINTS, required=len(ports) > 1)
            if detail := names.port_number(number(port, "port") or 0):
                yield ENDPOINTS.invalid((*at, "port"), port.get("port"), detail)
            yield from _check_protocol(port, at, ENDPOINTS)


def _check_address(address: Object, path: Path, *, strict: bool) -> Iterator[Problem]:
    ip, host, node = address.get("ip") or "", address.get("hostname"), address.get("nodeName")
    if detail := addresses.address(ip, strict=strict) or addresses.endpoint(ip):
        yield ENDPOINTS.invalid((*path, "ip"), ip, detail)
    if host and (detail := names.dns_label(host)):
        yield ENDPOINTS.invalid((*path, "hostname"), host, detail)
    if node is not None and (detail := names.dns_subdomain(node)):
        yield ENDPOINTS.invalid((*path, "nodeName"), node, detail)


def check_node(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield what is wrong with a Node, and a change of its networks or provider."""
    spec = inner(value, "spec")
    yield from _check_taints(spec)
    for field in ("capacity", "allocatable"):
        for name, amount in inner(value, "status", field).items():
            yield from _check_amount(name, amount, ("status", field, name))
    networks = _networks(spec)
    for index, network in enumerate(networks):
        if old is None and (detail := addresses.network(network, strict=minor(kubernetes) >= 36)):
            yield NODE.invalid(("spec", "podCIDRs", index), network, detail)
    if len(networks) > 1 and (len(networks) > 2 or not addresses.are_dual(networks)):
        yield NODE.invalid(("spec", "podCIDRs"), networks, "may specify no more than one CIDR for each IP family")
    if old is None:
        return
    before = inner(old, "spec")
    known = _networks(before)
    if known and _networks(spec) != known:
        yield NODE_UPDATE.forbidden(("spec", "podCIDRs"), "may not change once it is set")
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        yield NODE_UPDATE.forbidden(("spec", "providerID"), "may not change once it is set")
    if text(spec, "externalID") != text(before, "externalID"):
        yield NODE_UPDATE.forbidden(("spec", "externalID"), "may not be updated")


def _networks(spec: Object) -> list[str]:
    """The networks of a Node's pods: the single field wins where both are there and differ."""
    networks, single = [network for _, network in texts(spec, "podCIDRs")], text(spec, "podCIDR")
    return [single] if single and networks[:1] != [single] else networks


def _check_amount(name: str, amount: object, path: Path) -> Iterator[Problem]:
    size = millis(amount)
    if size is None:
        yield QUANTITY.invalid(path, amount, NOT_QUANTITY)
    elif size < 0:
        yield NODE.invalid(path, amount, "must be greater than or equal to 0")
    elif is_whole(name) and as_int64(amount, thousandths=True) % 1000:
        yield NODE.invalid(path, amount, "must be an integer")


def _check_taints(spec: Object) -> Iterator[Problem]:
    seen: list[tuple[str, str]] = []
    for index, taint in each(spec, "taints"):
        path = ("spec", "taints", index)
        key, value, effect = taint.get("key") or "", taint.get("value"), taint.get("effect")
        if detail := names.label_key(key):
            yield NODE.invalid((*path, "key"), key, detail)
        if value and (detail := names.label_value(value)):
            yield NODE.invalid((*path, "value"), value, detail)
        if not effect:
            yield NODE.required((*path, "effect"))
        elif effect not in EFFECTS:
            yield NODE.unsupported((*path, "effect"), effect, EFFECTS)
        pair = (text(taint, "key"), text(taint, "effect"))
        if pair in seen:
            yield NODE.duplicate(path, "/".join(pair))
        seen.append(pair)


def check_revision(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield what is wrong with a ControllerRevision, and a change of its data."""
    revision = number(value, "revision") or 0
    if revision < 0:
        yield NODE.invalid(("revision",), revision, "must be greater than or equal to 0")
    if old is None and not isinstance(value.get("data"), dict):
        yield NODE.required(("data",), "must be an object")
    if old is not None and value.get("data") != old.get("data"):
        yield NODE_UPDATE.invalid(("data",), value.get("data"), "field is immutable")
