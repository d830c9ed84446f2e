"""Changes of Services: what the server lets go of when the type changes, and what may not change.

Source: k8s.io/kubernetes v1.35.4 pkg/registry/core/service/strategy.go dropTypeDependentFields and
pkg/apis/core/validation/validation.go ValidateServiceUpdate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.shapes import Object, count, each, number, text, texts
from trainyard.upstream.apiserver.problems import Problem, Rule

IMMUTABLE = Rule(
    "update/service",
    f"{CORE} ValidateServiceUpdate",
    title="An update keeps the addresses and the families that a Service has.",
    fix="restore the field, or create another Service",
)
_ONCE = "may not change once set"


def is_reachable(spec: Object) -> bool:
    """Whether a service can be reached from outside."""
    kind = spec.get("type") or "ClusterIP"
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and count(spec, "externalIPs") > 0)


def _has_address(spec: Object) -> bool:
    return (spec.get("type") or "ClusterIP") in ("ClusterIP", "LoadBalancer", "NodePort")


def _has_node_ports(spec: Object) -> bool:
    return spec.get("type") in ("LoadBalancer", "NodePort")


def _is_balancer(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer"


def _has_health_port(spec: Object) -> bool:
    return _is_balancer(spec) and spec.get("externalTrafficPolicy") == "Local"


_NEEDED: dict[str, Callable[[Object], bool]] = {
    "clusterIP": _has_address,
    "clusterIPs": _has_address,
    "ipFamilies": _has_address,
    "ipFamilyPolicy": _has_address,
    "healthCheckNodePort": _has_health_port,
    "allocateLoadBalancerNodePorts": _is_balancer,
    "loadBalancerClass": _is_balancer,
    "externalTrafficPolicy": is_reachable,
}


def release_fields(spec: Object, before: Object) -> Object:
    """Return a specification without the fields that only the old type needed, where they are as they were.

    An address that was given stays where none is named: k8s.io/kubernetes v1.35.4 pkg/registry/core/service/storage/
    storage.go patchAllocatedValues.
    """
    if not before:
        return spec
    if _has_address(before) and _has_address(spec) and before.get("clusterIP") and not spec.get("clusterIP"):
        spec = {**spec, "clusterIP": before["clusterIP"]}
        spec["clusterIPs"] = spec.get("clusterIPs") or before.get("clusterIPs")
    gone = {
        field
        for field, needed in _NEEDED.items()
        if spec.get(field) is not None and spec[field] == before.get(field) and needed(before) and not needed(spec)
    }
    spec = {field: part for field, part in spec.items() if field not in gone} if gone else spec
    if not _has_node_ports(before) or _has_node_ports(spec) or not isinstance(spec.get("ports"), list):
        return spec
    old = {number(port, "nodePort") for _, port in each(before, "ports")}
    if any(number(port, "nodePort") not in {*old, None, 0} for _, port in each(spec, "ports")):
        return spec
    ports = [{**port, "nodePort": None} if isinstance(port, dict) else port for port in spec["ports"]]
    return {**spec, "ports": ports}


def check_changes(spec: Object, before: Object) -> Iterator[Problem]:
    """Yield the problems with changes of a Service that an update may not make."""
    kinds = (spec.get("type"), before.get("type"))
    if "ExternalName" not in kinds:
        now, was = text(spec, "clusterIP"), text(before, "clusterIP")
        if now and now != was:
            yield IMMUTABLE.invalid(("spec", "clusterIP"), now, f"{_ONCE}; the server has given one")
        mine, theirs = texts(spec, "ipFamilies"), texts(before, "ipFamilies")
        if mine and theirs and mine[0] != theirs[0]:
            yield IMMUTABLE.invalid(("spec", "ipFamilies", 0), mine[0][1], _ONCE)
    if kinds != ("LoadBalancer", "LoadBalancer"):
        return
    if spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
        yield IMMUTABLE.invalid(("spec", "loadBalancerClass"), spec.get("loadBalancerClass"), _ONCE)
    health, previous = number(spec, "healthCheckNodePort"), number(before, "healthCheckNodePort")
    local = spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy") == "Local"
    if local and health and health != previous:
        yield IMMUTABLE.forbidden(("spec", "healthCheckNodePort"), "field is immutable")
