"""APIServices, the one kind of apiregistration.k8s.io: which server answers for a group and version.

Source: k8s.io/kube-aggregator v0.35.4 pkg/apis/apiregistration/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, child, flag, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

SERVICE = Rule(
    "core/api-service",
    "k8s.io/kube-aggregator v0.35.4 pkg/apis/apiregistration/validation/validation.go",
    title="An APIService has a matching name, valid priorities and a consistent service.",
    fix="name the object <version>.<group>; keep the priorities within the limits that the message gives",
)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with an APIService."""
    spec, name = inner(value, "spec"), text(inner(value, "metadata"), "name")
    group, version = text(spec, "group"), text(spec, "version")
    if name and name != f"{version}.{group}":
        yield SERVICE.invalid(("metadata", "name"), name, f"must be '{version}.{group}', its version and group")
    if not group and version != "v1":
        yield SERVICE.required(("spec", "group"))
    elif group and (detail := names.dns_subdomain(group)):
        yield SERVICE.invalid(("spec", "group"), group, detail)
    if detail := names.dns_label_1035(version):
        yield SERVICE.invalid(("spec", "version"), version, detail)
    for field, highest in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        priority = number(spec, field) or 0
        if not 0 < priority <= highest:
            yield SERVICE.invalid(("spec", field), priority, f"must be 1 to {highest}")
    yield from _check_backend(spec)


def _check_backend(spec: Object) -> Iterator[Problem]:
    service, bundle, skip = child(spec, "service"), spec.get("caBundle"), flag(spec, "insecureSkipTLSVerify")
    if service is None:
        if bundle or skip:
            yield SERVICE.invalid(("spec", "service"), "", "local APIs may not have caBundle or insecureSkipTLSVerify")
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            yield SERVICE.required(("spec", "service", field))
    port = number(service, "port")
    if port is not None and (detail := names.port_number(port)):
        yield SERVICE.invalid(("spec", "service", "port"), port, detail)
    if skip and bundle:
        yield SERVICE.invalid(("spec", "insecureSkipTLSVerify"), True, "may not be true if caBundle is present")
