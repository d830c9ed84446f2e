"""IP families of Services: a server gives only those that the cluster's ServiceCIDRs have.

Source: k8s.io/kubernetes v1.35.4 pkg/registry/core/service/storage/alloc.go initIPFamilyFields.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from trainyard.base.findings import Severity
from trainyard.upstream.apiserver.core.shapes import Object, inner, text, texts
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import Around

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/registry/core/service/storage/alloc.go initIPFamilyFields"
FAMILY = Rule(
    "core/service-family",
    SOURCE,
    title="A Service uses IP families that the cluster has.",
    fix="use one of the cluster's IP families, or remove ipFamilies",
)
UNKNOWN = Rule(
    "core/service-family-unknown",
    SOURCE,
    title="The IP families of the cluster are known when a Service chooses one.",
    fix="add the cluster's ServiceCIDR to the inputs, or remove ipFamilies",
    why="the Service may be refused; Trainyard cannot check it without a ServiceCIDR",
    severity=Severity.WARNING,
)
BOTH = frozenset({"IPv4", "IPv6"})


def check(value: Object, around: Around) -> Iterator[Problem]:
    """Yield a Service that needs IPv6 or both families, where nothing says that the cluster has them.

    IPv4 is taken for granted: nearly all clusters have it.
    """
    if value.get("apiVersion") != "v1" or value.get("kind") != "Service":
        return
    asked = families_needed(inner(value, "spec"))
    if asked is None:
        return
    path, families = asked
    there = of_cluster(around)
    lacking = " and ".join(sorted(families - there))
    if there and lacking:
        yield FAMILY.forbidden(path, f"the cluster's ServiceCIDRs have no {lacking} range")
    elif not there:
        wanted = " and ".join(sorted(families))
        message = f"unknown whether the cluster has {wanted}; add its ServiceCIDR to the inputs"
        yield Problem(path, UNKNOWN.id, message, SOURCE)


def families_needed(spec: Object) -> tuple[Path, frozenset[str]] | None:
    """Return where a Service asks for more than IPv4, and for what; one without addresses and selector may have any."""
    if spec.get("type") == "ExternalName" or (spec.get("clusterIP") == "None" and not spec.get("selector")):
        return None
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        return ("spec", "ipFamilyPolicy"), BOTH
    for index, family in texts(spec, "ipFamilies"):
        if family == "IPv6":
            return ("spec", "ipFamilies", index), frozenset({"IPv6"})
    return (("spec", "clusterIP"), frozenset({"IPv6"})) if family_of(text(spec, "clusterIP")) == "IPv6" else None


def of_cluster(around: Around) -> frozenset[str]:
    """Return the families of the ServiceCIDRs that are at hand; none where there are none."""
    found = around.of("networking.k8s.io", "ServiceCIDR")
    ranges = (cidr.partition("/")[0] for one_cidr in found for _, cidr in texts(inner(one_cidr, "spec"), "cidrs"))
    return frozenset(family for range_ in ranges if (family := family_of(range_)))


def family_of(address: str) -> str:
    """Return the family of an address, empty for what is none."""
    try:
        return f"IPv{ipaddress.ip_address(address).version}"
    except ValueError:
        return ""
