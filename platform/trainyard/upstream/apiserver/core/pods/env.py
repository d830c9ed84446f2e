"""Environment variables and where their values come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.amounts import canonical, check_quantity, nanos
from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.rules import ENV
from trainyard.upstream.apiserver.core.shapes import Object, child, each, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.pods.resources import BASIC, HUGE_PAGES

ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_LABELS = {
    *ENV_FIELDS,
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
}
RESOURCES = tuple(f"{kind}.{name}" for kind in ("limits", "requests") for name in sorted(BASIC))
_HUGE_PAGES = tuple(f"{kind}.{HUGE_PAGES}" for kind in ("requests", "limits"))
_SIZES = frozenset({"1", *(f"1{unit}" for unit in "kMGTPE"), *(f"1{unit}i" for unit in "KMGTPE")})


def check_env(container: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with `env` and `envFrom`."""
    for index, variable in each(container, "env"):
        at = (*path, "env", index)
        name = variable.get("name")
        if not name:
            yield ENV.required((*at, "name"))
        elif detail := names.environment_name(name):
            yield ENV.invalid((*at, "name"), name, detail)
        if (source := child(variable, "valueFrom")) is not None:
            yield from _check_value_from(variable, source, (*at, "valueFrom"))
    for index, variable in each(container, "envFrom"):
        yield from _check_env_from(variable, (*path, "envFrom", index))


def _check_value_from(variable: Object, source: Object, path: Path) -> Iterator[Problem]:
    found = 0
    if (field := child(source, "fieldRef")) is not None:
        found += 1
        yield from check_field(field, (*path, "fieldRef"), ENV_FIELDS)
    if (resource := child(source, "resourceFieldRef")) is not None:
        found += 1
        yield from check_resource_field(resource, (*path, "resourceFieldRef"), volume=False)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if (reference := child(source, kind)) is not None:
            found += 1
            yield from _check_key(reference, (*path, kind))
    if (reference := child(source, "fileKeyRef")) is not None:
        found += 1
        yield from _check_file_key(reference, (*path, "fileKeyRef"))
    if not found:
        yield ENV.invalid(path, "", "must name one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef")
    elif variable.get("value"):
        yield ENV.invalid(path, "", "may not be specified when value is not empty")
    elif found > 1:
        yield ENV.invalid(path, "", "may not have more than one source")


def _check_env_from(source: Object, path: Path) -> Iterator[Problem]:
    prefix = source.get("prefix")
    if prefix and (detail := names.environment_name(prefix)):
        yield ENV.invalid((*path, "prefix"), prefix, detail)
    found = 0
    for kind in ("configMapRef", "secretRef"):
        if (reference := child(source, kind)) is None:
            continue
        found += 1
        name = reference.get("name")
        if not name:
            yield ENV.required((*path, kind, "name"))
        elif detail := names.prefix_of(names.dns_subdomain)(name):
            yield ENV.invalid((*path, kind, "name"), name, detail)
    if found != 1:
        yield ENV.invalid(path, "", "must specify one of configMapRef and secretRef")


def _check_key(reference: Object, path: Path) -> Iterator[Problem]:
    name, key = reference.get("name") or "", reference.get("key")
    if detail := names.dns_subdomain(name):
        yield ENV.invalid((*path, "name"), name, detail)
    if not key:
        yield ENV.required((*path, "key"))
    elif detail := names.config_key(key):
        yield ENV.invalid((*path, "key"), key, detail)


def _check_file_key(reference: Object, path: Path) -> Iterator[Problem]:
    for field, check in (
        ("key", names.environment_name),
        ("volumeName", names.dns_label),
        ("path", paths.no_backsteps),
    ):
        value = reference.get(field)
        if not value:
            yield ENV.required((*path, field))
        elif detail := check(value):
            yield ENV.invalid((*path, field), value, detail)


def check_field(field: Object, path: Path, supported: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the problems with a `fieldRef`, in a variable or in a downward API file."""
    version, name = field.get("apiVersion"), text(field, "fieldPath")
    if not version:
        yield ENV.required((*path, "apiVersion"))
        return
    if not name:
        if not field.get("fieldPath"):
            yield ENV.required((*path, "fieldPath"))
        return
    name, subscript = _subscripted(name)
    if subscript is not None and name in {"metadata.annotations", "metadata.labels"} and version == "v1":
        key = subscript.lower() if name == "metadata.annotations" else subscript
        if detail := names.label_key(key):
            yield ENV.invalid((*path, "fieldPath"), subscript, detail)
        return
    if version != "v1":
        yield ENV.invalid((*path, "apiVersion"), version, "must be v1")
    elif subscript is not None:
        yield ENV.invalid((*path, "fieldPath"), name, "does not support a subscript")
    elif name == "spec.host":
        # The old spelling of spec.nodeName converts, but its own name is then looked up.
        if "spec.nodeName" not in supported:
            yield ENV.unsupported((*path, "fieldPath"), "spec.nodeName", supported)
    elif name not in _LABELS or name not in supported:
        yield ENV.unsupported((*path, "fieldPath"), name, supported)


def _subscripted(name: str) -> tuple[str, str | None]:
    if not name.endswith("']"):
        return name, None
    head, mark, subscript = name[:-2].partition("['")
    return (head, subscript) if mark and head else (name, None)


def check_resource_field(field: Object, path: Path, *, volume: bool) -> Iterator[Problem]:
    """Yield the problems with a `resourceFieldRef`; a volume must say which container it means."""
    resource = text(field, "resource")
    if volume and not field.get("containerName"):
        yield ENV.required((*path, "containerName"))
    elif not field.get("resource"):
        yield ENV.required((*path, "resource"))
    elif resource not in RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield ENV.unsupported((*path, "resource"), resource, RESOURCES)
    divisor = field.get("divisor")
    if divisor is not None:
        yield from check_quantity(divisor, (*path, "divisor"))
        if not _divides(resource, divisor):
            yield ENV.invalid((*path, "divisor"), divisor, "must be 1 or a unit such as 1m (cpu) or 1Mi (memory)")


def _divides(resource: str, divisor: Any) -> bool:
    if not nanos(divisor):
        return True
    return canonical(divisor) in ({"1", "1m"} if resource.endswith(".cpu") else _SIZES)
