"""Ingresses: rules, paths, and what is behind them.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/networking/validation/validation.go ValidateIngressCreate.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.networkpolicy import SOURCE
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

INGRESS = Rule(
    "core/ingress",
    f"{SOURCE} ValidateIngressSpec",
    title="An Ingress has rules or a default backend, and valid hosts.",
    fix="add rules or defaultBackend, and use DNS names as hosts",
)
PATH = Rule(
    "core/ingress-path",
    f"{SOURCE} validateHTTPIngressPath",
    title="Paths of an Ingress are absolute and have a pathType.",
    fix="set pathType to Exact, Prefix or ImplementationSpecific, and start the path with /",
)
BACKEND = Rule(
    "core/ingress-backend",
    f"{SOURCE} validateIngressBackend",
    title="A backend of an Ingress is either a Service with a port or a resource.",
    fix="set exactly one of service and resource; give the service one port name or number",
)

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_CLASS = "kubernetes.io/ingress.class"
_BAD_PARTS = ("//", "/./", "/../", "%2f", "%2F")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with an Ingress."""
    spec = inner(value, "spec")
    service = names.dns_label if minor(kubernetes) >= 36 else names.dns_label_1035
    if not count(spec, "rules") and child(spec, "defaultBackend") is None:
        yield INGRESS.invalid(("spec",), [], "either defaultBackend or rules must be specified")
    if (backend := child(spec, "defaultBackend")) is not None:
        yield from _check_backend(backend, ("spec", "defaultBackend"), service)
    for index, rule in each(spec, "rules"):
        yield from _check_rule(rule, ("spec", "rules", index), service)
    for index, tls in each(spec, "tls"):
        for place, host in texts(tls, "hosts"):
            if detail := _host(host):
                yield INGRESS.invalid(("spec", "tls", index, "hosts", place), host, detail)
        secret = tls.get("secretName")
        if secret and (detail := names.dns_subdomain(secret)):
            yield INGRESS.invalid(("spec", "tls", index, "secretName"), secret, detail)
    name, annotation = spec.get("ingressClassName"), inner(value, "metadata", "annotations").get(_CLASS)
    if name is not None and (detail := names.dns_subdomain(name)):
        yield INGRESS.invalid(("spec", "ingressClassName"), name, detail)
    if old is None and name is not None and annotation is not None and annotation != name:
        yield INGRESS.invalid(("metadata", "annotations", _CLASS), annotation, "must match spec.ingressClassName")


def _host(host: str) -> str | None:
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


def _check_rule(rule: Object, path: Path, service: names.Format) -> Iterator[Problem]:
    host = text(rule, "host")
    if host:
        if addresses.parse(host) is not None:
            yield INGRESS.invalid((*path, "host"), host, "must be a DNS name, not an IP address")
        elif detail := _host(host):
            yield INGRESS.invalid((*path, "host"), host, detail)
    if (http := child(rule, "http")) is None:
        return
    if not count(http, "paths"):
        yield INGRESS.required((*path, "http", "paths"))
    for index, entry in each(http, "paths"):
        at = (*path, "http", "paths", index)
        kind = entry.get("pathType")
        if kind is None:
            yield PATH.required((*at, "pathType"), "must be specified")
            continue
        yield from _check_path(entry, kind, at)
        yield from _check_backend(inner(entry, "backend"), (*at, "backend"), service)


def _check_path(entry: Object, kind: object, path: Path) -> Iterator[Problem]:
    where, at = text(entry, "path"), (*path, "path")
    if kind not in PATH_TYPES:
        yield PATH.unsupported((*path, "pathType"), kind, PATH_TYPES)
        return
    if not where.startswith("/") and (where or kind != "ImplementationSpecific"):
        yield PATH.invalid(at, where, "must be an absolute path")
    if kind == "ImplementationSpecific":
        return
    for part in _BAD_PARTS:
        if part in where:
            yield PATH.invalid(at, where, f"must not contain '{part}'")
    if where.endswith(("/..", "/.")):
        yield PATH.invalid(at, where, "cannot end with '/..' or '/.'")


def _check_backend(backend: Object, path: Path, rule: names.Format) -> Iterator[Problem]:
    resource, service = child(backend, "resource"), child(backend, "service")
    if (resource is None) == (service is None):
        yield BACKEND.invalid(path, "", "exactly one of resource and service is required")
    elif resource is not None:
        yield from check_reference(resource, (*path, "resource"), BACKEND)
    elif service is not None:
        name, port = service.get("name"), inner(service, "port")
        if not name:
            yield BACKEND.required((*path, "service", "name"))
        elif detail := rule(name):
            yield BACKEND.invalid((*path, "service", "name"), name, detail)
        yield from _check_port(port, (*path, "service", "port"))


def _check_port(port: Object, path: Path) -> Iterator[Problem]:
    name, value = text(port, "name"), number(port, "number") or 0
    if bool(name) == bool(value):
        yield BACKEND.required(path, "exactly one of name and number is required")
    elif name and (detail := names.port_name(name)):
        yield BACKEND.invalid((*path, "name"), name, detail)
    elif value and (detail := names.port_number(value)):
        yield BACKEND.invalid((*path, "number"), value, detail)


def check_reference(reference: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield the problems with a reference to an object of any kind."""
    group = reference.get("apiGroup")
    if group is not None and (detail := names.dns_subdomain(group)):
        yield rule.invalid((*path, "apiGroup"), group, detail)
    for field in ("kind", "name"):
        value = reference.get(field)
        if not value:
            yield rule.required((*path, field))
        elif detail := names.path_segment(value):
            yield rule.invalid((*path, field), value, detail)
