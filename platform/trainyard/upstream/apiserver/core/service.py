"""Services: ports, cluster IPs, traffic policies, and what an update may not change.

What depends on the cluster's own networks (service CIDR, dual stack, free node ports) cannot be known and is not said.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateServiceCreate and
pkg/registry/core/service/storage/alloc.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.pods.containers import PROTOCOLS
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.servicechanges import check_changes, is_reachable, release_fields
from trainyard.upstream.apiserver.core.shapes import (
    Object,
    child,
    count,
    each,
    fill,
    fill_absent,
    inner,
    number,
    text,
    texts,
)
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_labels
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SERVICE = Rule(
    "core/service",
    f"{CORE} ValidateServiceCreate",
    title="A Service has a valid type, ports, selector and addresses.",
    fix="add spec.ports; remove fields that belong to another type of Service",
)
PORT = Rule(
    "core/service-port",
    f"{CORE} validateServicePort",
    title="Ports of a Service have unique names and valid numbers.",
    fix="name every port of several, and use numbers from 1 to 65535",
)
CLUSTER_IP = Rule(
    "core/service-cluster-ip",
    f"{CORE} ValidateServiceClusterIPsRelatedFields",
    title="Cluster IPs and IP families of a Service agree.",
    fix="remove clusterIP and clusterIPs, or make them match ipFamilies and ipFamilyPolicy",
)
TRAFFIC = Rule(
    "core/service-traffic",
    f"{CORE} validateServiceExternalTrafficPolicy",
    title="Traffic fields of a Service suit its type.",
    fix="remove the field, or use type LoadBalancer or NodePort",
)

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
FAMILIES = ("IPv4", "IPv6")
FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
POLICIES = ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LONGEST_AFFINITY = 86400
_LARGEST_PORT = 65535
_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a Service."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "type", "ClusterIP")
    fill(spec, "sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    timeout = number(inner(spec, "sessionAffinityConfig", "clientIP"), "timeoutSeconds")
    if spec["sessionAffinity"] == "ClientIP" and timeout is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for _, port in each(spec, "ports"):
        fill(port, "protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    outside = spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and count(spec, "externalIPs") > 0
    )
    if outside:
        fill(spec, "externalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer", "ClusterIP"):
        fill_absent(spec, "internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        fill_absent(spec, "allocateLoadBalancerNodePorts", True)
    if text(spec, "clusterIP") and not count(spec, "clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a Service, and changes that an update may not make."""
    before = inner(old or {}, "spec")
    spec = release_fields(inner(value, "spec"), before)
    annotations = inner(value, "metadata", "annotations")
    strict = minor(kubernetes) >= 36
    yield from _check_type(spec)
    yield from _check_ports(spec, fresh=old is None)
    yield from check_labels(spec.get("selector"), ("spec", "selector"), SERVICE)
    yield from _check_affinity(spec)
    if spec.get("type") != "ExternalName":
        yield from _check_cluster_ips(spec, before, strict=strict)
    yield from _check_external(spec, before, annotations, strict=strict)
    yield from _check_balancer(spec)
    yield from _check_traffic(spec)
    hints, mode = annotations.get(_HINTS), annotations.get(_MODE)
    if hints is not None and mode is not None and hints != mode:
        yield SERVICE.invalid(("metadata", "annotations", _MODE), mode, f"must match {_HINTS}")
    if old is not None:
        yield from check_changes(spec, before)


def is_headless(spec: Object) -> bool:
    """Whether the service has no address of its own."""
    ips = spec.get("clusterIPs")
    return (ips if isinstance(ips, list) else [spec.get("clusterIP")]) == ["None"]


def _check_type(spec: Object) -> Iterator[Problem]:
    kind = spec.get("type") or "ClusterIP"
    if kind not in TYPES:
        yield SERVICE.unsupported(("spec", "type"), kind, TYPES)
    headless = is_headless(spec)
    if not count(spec, "ports") and not headless and kind != "ExternalName":
        yield SERVICE.required(("spec", "ports"))
    if kind in ("LoadBalancer", "NodePort") and headless:
        yield SERVICE.invalid(("spec", "clusterIP"), "None", f"may not be None for {kind} services")
    if kind != "ExternalName":
        return
    for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field) and not (field == "clusterIPs" and spec.get("clusterIP")):
            yield SERVICE.forbidden(("spec", field), "may not be set for ExternalName services")
    name = text(spec, "externalName").removesuffix(".")
    if not name:
        yield SERVICE.required(("spec", "externalName"))
    elif detail := names.dns_subdomain(name):
        yield SERVICE.invalid(("spec", "externalName"), name, detail)


def _check_ports(spec: Object, *, fresh: bool) -> Iterator[Problem]:
    ports = each(spec, "ports")
    seen_names: set[str] = set()
    seen: set[tuple[str, int]] = set()
    seen_nodes: set[tuple[str, int]] = set()
    local = spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    checked = fresh and local and not number(spec, "healthCheckNodePort")
    for index, port in ports:
        path = ("spec", "ports", index)
        name, number_, node = text(port, "name"), number(port, "port") or 0, number(port, "nodePort") or 0
        protocol = text(port, "protocol") or "TCP"
        yield from check_port_name(port, path, PORT, required=len(ports) > 1)
        if name and name in seen_names:
            yield PORT.duplicate((*path, "name"), name)
        seen_names.add(name)
        yield from _check_port(port, path)
        if (protocol, number_) in seen:
            yield PORT.duplicate(path, f"{number_}/{protocol}")
        seen.add((protocol, number_))
        if not node:
            continue
        if (spec.get("type") or "ClusterIP") == "ClusterIP":
            yield PORT.forbidden((*path, "nodePort"), "may not be used when type is ClusterIP")
        if (protocol, node) in seen_nodes:
            yield PORT.duplicate((*path, "nodePort"), node)
        seen_nodes.add((protocol, node))
        if checked and node >= _LARGEST_PORT:
            yield PORT.invalid((*path, "nodePort"), node, "must leave room for the health check's port below 65536")


def check_port_name(port: Object, path: Path, rule: Rule, *, required: bool) -> Iterator[Problem]:
    """Yield a port without a name where several need one, and a name that is no DNS label."""
    name = port.get("name")
    if not name:
        if required:
            yield rule.required((*path, "name"))
    elif detail := names.dns_label(name):
        yield rule.invalid((*path, "name"), name, detail)


def _check_port(port: Object, path: Path) -> Iterator[Problem]:
    if detail := names.port_number(number(port, "port") or 0):
        yield PORT.invalid((*path, "port"), port.get("port"), detail)
    protocol = port.get("protocol") or "TCP"
    if protocol not in PROTOCOLS:
        yield PORT.unsupported((*path, "protocol"), protocol, PROTOCOLS)
    target = port.get("targetPort")
    if target not in (None, 0, "") and (detail := names.port(target)):
        yield PORT.invalid((*path, "targetPort"), target, detail)
    application = port.get("appProtocol")
    if application is not None and (detail := names.label_key(application)):
        yield PORT.invalid((*path, "appProtocol"), application, detail)


def _check_affinity(spec: Object) -> Iterator[Problem]:
    affinity, config = spec.get("sessionAffinity") or "None", child(spec, "sessionAffinityConfig")
    if affinity not in ("ClientIP", "None"):
        yield SERVICE.unsupported(("spec", "sessionAffinity"), affinity, ("ClientIP", "None"))
    seconds = number(inner(config or {}, "clientIP"), "timeoutSeconds")
    if affinity == "ClientIP" and seconds is not None and not 0 < seconds <= _LONGEST_AFFINITY:
        path = ("spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds")
        yield SERVICE.invalid(path, seconds, f"must be between 1 and {_LONGEST_AFFINITY}")


def _check_cluster_ips(spec: Object, before: Object, *, strict: bool) -> Iterator[Problem]:
    ip, ips = text(spec, "clusterIP"), [text_ for _, text_ in texts(spec, "clusterIPs")]
    path = ("spec", "clusterIPs")
    if not ip and ips and not before:
        yield CLUSTER_IP.invalid(path, ips, "must be empty when clusterIP is not specified")
    elif ip and ips and ips[0] != ip:
        yield CLUSTER_IP.invalid(path, ips, "the first value must match clusterIP")
    seen = []
    for index, family in texts(spec, "ipFamilies"):
        if family not in FAMILIES:
            yield CLUSTER_IP.unsupported(("spec", "ipFamilies", index), family, FAMILIES)
        if family in seen:
            yield CLUSTER_IP.duplicate(("spec", "ipFamilies", index), family)
        seen.append(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in FAMILY_POLICIES:
        yield CLUSTER_IP.unsupported(("spec", "ipFamilyPolicy"), policy, FAMILY_POLICIES)
    ips = ips or ([ip] if ip else [])
    if ips[:1] == ["None"]:
        if len(ips) > 1:
            yield CLUSTER_IP.invalid(path, ips, "None must be the first and only value")
        return
    yield from _check_addresses(spec, before, ips, seen, strict=strict)


def _check_addresses(
    spec: Object, before: Object, ips: list[str], families: list[str], *, strict: bool
) -> Iterator[Problem]:
    path, wrong = ("spec", "clusterIPs"), False
    known = [text_ for _, text_ in texts(before, "clusterIPs")]
    for index, address in enumerate(ips):
        if detail := addresses.address(address, strict=strict, known=known):
            wrong = True
            yield CLUSTER_IP.invalid(("spec", "clusterIP") if len(ips) == 1 else (*path, index), address, detail)
    if len(ips) > 2:
        yield CLUSTER_IP.invalid(path, ips, "may only hold up to 2 values")
    if not wrong:
        yield from _check_families(spec, ips, families)


def _check_families(spec: Object, ips: list[str], families: list[str]) -> Iterator[Problem]:
    if len(ips) > 1 and not addresses.are_dual(ips):
        yield CLUSTER_IP.invalid(("spec", "clusterIPs"), ips, "may specify no more than one IP for each IP family")
    for index, (address, family) in enumerate(zip(ips, families, strict=False)):
        if family in FAMILIES and addresses.is_v6(address) != (family == "IPv6"):
            yield CLUSTER_IP.invalid(("spec", "clusterIPs", index), address, f"expected an {family} address")
    if (spec.get("ipFamilyPolicy") or "SingleStack") == "SingleStack" and max(len(ips), len(families)) == 2:
        yield CLUSTER_IP.invalid(("spec", "ipFamilyPolicy"), spec.get("ipFamilyPolicy"), "must allow dual stack")


def _check_external(spec: Object, before: Object, annotations: Object, *, strict: bool) -> Iterator[Problem]:
    known = [text_ for _, text_ in texts(before, "externalIPs")]
    for index, address in texts(spec, "externalIPs"):
        detail = addresses.address(address, strict=strict, known=known) or addresses.endpoint(address)
        if detail:
            yield SERVICE.invalid(("spec", "externalIPs", index), address, detail)
    balancer = spec.get("type") == "LoadBalancer"
    ranges, annotation = texts(spec, "loadBalancerSourceRanges"), annotations.get(_RANGES)
    path: Path = ("spec", "loadBalancerSourceRanges")
    values = [(*path, index) for index, _ in ranges]
    given = [text_.strip() for _, text_ in ranges]
    if not ranges and isinstance(annotation, str):
        path = ("metadata", "annotations", _RANGES)
        given = [part.strip() for part in annotation.strip().split(",")] if annotation.strip() else []
        values = [path] * len(given)
    if (ranges or annotation is not None) and not balancer:
        yield SERVICE.forbidden(path, "may only be used when type is LoadBalancer")
    kept = {text_.strip() for _, text_ in texts(before, "loadBalancerSourceRanges")}
    for where, network in zip(values, given, strict=True):
        if detail := addresses.network(network, strict=strict, known=kept):
            yield SERVICE.invalid(where, network, detail)


def _check_balancer(spec: Object) -> Iterator[Problem]:
    kind, name = spec.get("type"), spec.get("loadBalancerClass")
    if name is not None:
        if kind != "LoadBalancer":
            yield SERVICE.forbidden(("spec", "loadBalancerClass"), "may only be used when type is LoadBalancer")
        elif detail := names.label_key(name):
            yield SERVICE.invalid(("spec", "loadBalancerClass"), name, detail)
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        yield SERVICE.forbidden(("spec", "allocateLoadBalancerNodePorts"), "may only be used when type is LoadBalancer")


def _check_traffic(spec: Object) -> Iterator[Problem]:
    kind, external = spec.get("type") or "ClusterIP", spec.get("externalTrafficPolicy")
    path = ("spec", "externalTrafficPolicy")
    if external and not is_reachable(spec):
        yield TRAFFIC.invalid(path, external, "may only be set for externally-accessible services")
    elif external and external not in POLICIES:
        yield TRAFFIC.unsupported(path, external, POLICIES)
    port = number(spec, "healthCheckNodePort") or 0
    if port and not (kind == "LoadBalancer" and external == "Local"):
        detail = "may only be set when type is LoadBalancer and externalTrafficPolicy is Local"
        yield TRAFFIC.invalid(("spec", "healthCheckNodePort"), port, detail)
    elif port and (detail_ := names.port_number(port)):
        yield TRAFFIC.invalid(("spec", "healthCheckNodePort"), port, detail_)
    internal = spec.get("internalTrafficPolicy")
    if internal is not None and internal not in POLICIES:
        yield TRAFFIC.unsupported(("spec", "internalTrafficPolicy"), internal, POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS:
        yield TRAFFIC.unsupported(("spec", "trafficDistribution"), distribution, DISTRIBUTIONS)
