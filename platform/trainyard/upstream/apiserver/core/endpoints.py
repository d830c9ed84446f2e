"""Endpoints: addresses and ports, which may stay as they are.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateEndpoints and
pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.pods.containers import PROTOCOLS
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.service import check_port_name
from trainyard.upstream.apiserver.core.shapes import Object, count, each, fill, number
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

ENDPOINTS = Rule(
    "core/endpoints",
    f"{CORE} ValidateEndpoints",
    title="Endpoints have valid addresses and ports.",
    fix="give each subset an address; use IP addresses and ports from 1 to 65535",
)


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the protocols of Endpoints."""
    for _, subset in each(value, "subsets"):
        for _, port in each(subset, "ports"):
            fill(port, "protocol", "TCP")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with Endpoints; unchanged subsets may stay as they are."""
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
            yield from check_protocol(port, at, ENDPOINTS)


def _check_address(address: Object, path: Path, *, strict: bool) -> Iterator[Problem]:
    ip, host, node = address.get("ip") or "", address.get("hostname"), address.get("nodeName")
    if detail := addresses.address(ip, strict=strict) or addresses.endpoint(ip):
        yield ENDPOINTS.invalid((*path, "ip"), ip, detail)
    if host and (detail := names.dns_label(host)):
        yield ENDPOINTS.invalid((*path, "hostname"), host, detail)
    if node is not None and (detail := names.dns_subdomain(node)):
        yield ENDPOINTS.invalid((*path, "nodeName"), node, detail)


def check_protocol(port: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield a protocol that does not exist, and an application protocol that is no qualified name."""
    protocol, application = port.get("protocol"), port.get("appProtocol")
    if protocol is not None and protocol not in PROTOCOLS:
        yield rule.unsupported((*path, "protocol"), protocol, PROTOCOLS)
    if application is not None and (detail := names.label_key(application)):
        yield rule.invalid((*path, "appProtocol"), application, detail)
