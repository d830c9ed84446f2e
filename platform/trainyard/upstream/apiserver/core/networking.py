"""ServiceCIDRs and IPAddresses of networking.k8s.io: the ranges that Services get addresses from, and who holds one.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, child, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

_NETWORKING = "k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go"
RANGE = Rule(
    "core/service-cidr",
    f"{_NETWORKING} ValidateServiceCIDR",
    title="A ServiceCIDR has one or two valid CIDRs, of different IP families.",
    fix="write canonical CIDRs such as 10.96.0.0/16",
)
RANGE_UPDATE = Rule(
    "update/service-cidr",
    f"{_NETWORKING} ValidateServiceCIDRUpdate",
    title="An update keeps the CIDRs of a ServiceCIDR.",
    fix="restore spec.cidrs, or create another ServiceCIDR",
)
HOLDER = Rule(
    "core/ip-address",
    f"{_NETWORKING} ValidateIPAddress",
    title="An IPAddress is named after its address and has a parent.",
    fix="use the canonical address as the name, and set parentRef",
)
HOLDER_UPDATE = Rule(
    "update/ip-address",
    f"{_NETWORKING} ValidateIPAddressUpdate",
    title="An update keeps the parent of an IPAddress.",
    fix="restore spec.parentRef",
)

_CIDRS = ("spec", "cidrs")
_FAMILIES = 2


def check_range(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a ServiceCIDR; an update may only add the other family."""
    cidrs = _cidrs(value)
    if old is None:
        yield from _check_cidrs(cidrs)
        return
    before = _cidrs(old)
    if len(before) != len(cidrs) and (len(before), len(cidrs)) != (1, _FAMILIES):
        yield RANGE_UPDATE.invalid(_CIDRS, cidrs, "field is immutable")
        return
    for index, (was, now) in enumerate(zip(before, cidrs, strict=False)):
        if was != now:
            yield RANGE_UPDATE.invalid((*_CIDRS, index), now, "field is immutable")
    if len(before) != len(cidrs):
        yield from _check_cidrs(cidrs)


def _cidrs(value: Object) -> list[str]:
    """Return the ranges; null among them is the empty text."""
    found = inner(value, "spec").get("cidrs")
    return [cidr if type(cidr) is str else "" for cidr in found] if type(found) is list else []


def _check_cidrs(cidrs: list[str]) -> Iterator[Problem]:
    if not cidrs:
        yield RANGE.required(_CIDRS, "at least one CIDR")
    elif len(cidrs) > _FAMILIES:
        yield RANGE.too_many(_CIDRS, len(cidrs), _FAMILIES)
    else:
        details = [addresses.canonical_network(cidr) for cidr in cidrs]
        for index, detail in enumerate(details):
            if detail:
                yield RANGE.invalid((*_CIDRS, index), cidrs[index], detail)
        known = [cidr for cidr in cidrs if addresses.parse_network(cidr) is not None]
        if len(known) == _FAMILIES and len({":" in cidr for cidr in known}) == 1:
            yield RANGE.invalid(_CIDRS, cidrs, "must have at most one CIDR of each IP family")


def check_holder(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with an IPAddress, and a change of who holds it."""
    path = ("spec", "parentRef")
    parent = child(inner(value, "spec"), "parentRef")
    if old is not None:
        yield from check_immutable(parent, child(inner(old, "spec"), "parentRef"), path, HOLDER_UPDATE)
        return
    name = text(inner(value, "metadata"), "name")
    if name and (detail := addresses.canonical_address(name)):
        yield HOLDER.invalid(("metadata", "name"), name, detail)
    if parent is None:
        yield HOLDER.required(path)
        return
    if (group := text(parent, "group")) and (detail := names.dns_subdomain(group)):
        yield HOLDER.invalid((*path, "group"), group, detail)
    for field in ("resource", "name", "namespace"):
        given = text(parent, field)
        if not given:
            if field != "namespace":
                yield HOLDER.required((*path, field))
        elif detail := names.path_segment(given):
            yield HOLDER.invalid((*path, field), given, detail)
