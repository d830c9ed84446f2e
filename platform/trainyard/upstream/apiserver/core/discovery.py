"""EndpointSlices, the one kind of discovery.k8s.io: addresses of one type, ports, hints, and that the type stays.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/discovery/validation/validation.go and pkg/apis/discovery/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.endpoints import check_protocol
from trainyard.upstream.apiserver.core.equality import check_immutable, differs
from trainyard.upstream.apiserver.core.service import check_port_name
from trainyard.upstream.apiserver.core.shapes import Object, count, each, fill_absent, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_DISCOVERY = "k8s.io/kubernetes v1.35.4 pkg/apis/discovery/validation/validation.go"
SLICE = Rule(
    "core/endpoint-slice",
    f"{_DISCOVERY} ValidateEndpointSlice",
    title="An EndpointSlice has valid addresses, ports and address type.",
    fix="use addresses of the type in addressType; give each port its own name",
)
IMMUTABLE = Rule(
    "update/endpoint-slice",
    f"{_DISCOVERY} ValidateEndpointSliceUpdate",
    title="An update keeps the address type of an EndpointSlice.",
    fix="restore addressType, or create another EndpointSlice",
)

TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS = 1000
_MOST_ADDRESSES = 100
_MOST_PORTS = 20000
_MOST_HINTS = 8


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the ports of an EndpointSlice."""
    for _, port in each(value, "ports"):
        fill_absent(port, "name", "")
        fill_absent(port, "protocol", "TCP")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with an EndpointSlice, and a change of its address type."""
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
        yield from check_protocol(port, path, SLICE)


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
