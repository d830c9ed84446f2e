"""StorageClasses, VolumeAttributesClasses, CSIDrivers and CSIStorageCapacities of storage.k8s.io.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.amounts import check_quantity, nanos
from trainyard.upstream.apiserver.core.equality import check_immutable, differs
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import (
    EMPTY,
    Object,
    child,
    count,
    each,
    fill_absent,
    inner,
    number,
    text,
    texts,
)
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/storage/validation/validation.go"
CLASS = Rule(
    "core/storage-class",
    f"{SOURCE} ValidateStorageClass",
    title="A StorageClass or VolumeAttributesClass has a driver, valid parameters and valid modes.",
    fix="set provisioner or driverName; use one of the values that the message gives",
)
TOPOLOGY = Rule(
    "core/storage-topology",
    f"{SOURCE} validateAllowedTopologies",
    title="Allowed topologies of a StorageClass have unique keys and values.",
    fix="give each key values, and write each term once",
)
DRIVER = Rule(
    "core/csi-driver",
    f"{SOURCE} ValidateCSIDriver",
    title="A CSIDriver has valid modes, periods and token requests.",
    fix="use one of the values that the message gives; expirationSeconds is 600 or more",
)
CAPACITY = Rule(
    "core/csi-capacity",
    f"{SOURCE} ValidateCSIStorageCapacity",
    title="A CSIStorageCapacity names a StorageClass and has valid amounts.",
    fix="set storageClassName, and amounts of at least 0",
)
IMMUTABLE = Rule(
    "update/storage",
    f"{SOURCE} ValidateStorageClassUpdate",
    title="An update keeps the fixed fields of storage objects, such as the parameters of a StorageClass.",
    fix="restore the field, or create an object under another name",
)

_MOST_PARAMETERS = 512
_LARGEST_PARAMETERS = 256 * 1024
_SHORTEST_TOKEN = 600
_SHORTEST_PERIOD = 10


def default_storage_class(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a StorageClass."""
    fill_absent(value, "reclaimPolicy", "Delete")
    fill_absent(value, "volumeBindingMode", "Immediate")


def default_csi_driver(value: Object, minor: int) -> None:
    """Default a CSIDriver."""
    if (spec := child(value, "spec")) is None:
        return
    for field, default in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        fill_absent(spec, field, default)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
    if minor < 35:
        spec.pop("serviceAccountTokenInSecrets", None)
        spec.pop("nodeAllocatableUpdatePeriodSeconds", None)


def check_storage_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a StorageClass; of it, only expansion, mount options and topologies may change."""
    yield from _check_provisioner(value, "provisioner")
    yield from _check_parameters(value, empty=True)
    policy, mode = value.get("reclaimPolicy"), value.get("volumeBindingMode")
    if policy and policy not in ("Delete", "Retain"):
        yield CLASS.unsupported(("reclaimPolicy",), policy, ("Delete", "Retain"))
    if mode is not None and mode not in ("Immediate", "WaitForFirstConsumer"):
        yield CLASS.unsupported(("volumeBindingMode",), mode, ("Immediate", "WaitForFirstConsumer"))
    yield from _check_topologies(value)
    if old is not None:
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if differs(value.get(field), old.get(field), field):
                yield IMMUTABLE.forbidden((field,), "may not be changed in an update")


def check_attributes_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a VolumeAttributesClass, of which nothing may change."""
    yield from _check_provisioner(value, "driverName")
    yield from _check_parameters(value, empty=False)
    if old is not None:
        for field in ("driverName", "parameters"):
            if differs(value.get(field), old.get(field), field):
                yield IMMUTABLE.forbidden((field,), "may not be changed in an update")


def _check_provisioner(value: Object, field: str) -> Iterator[Problem]:
    name = value.get(field)
    if not name:
        yield CLASS.required((field,))
    elif isinstance(name, str) and (detail := names.label_key(name.lower())):
        yield CLASS.invalid((field,), name, detail)


def _check_parameters(value: Object, *, empty: bool) -> Iterator[Problem]:
    parameters = child(value, "parameters") or EMPTY
    if len(parameters) > _MOST_PARAMETERS:
        yield CLASS.too_many(("parameters",), len(parameters), _MOST_PARAMETERS)
    if "" in parameters:
        yield CLASS.invalid(("parameters", ""), "", "a name cannot be empty")
    total = sum(names.size(str(key)) + names.size(str(entry)) for key, entry in parameters.items())
    if total > _LARGEST_PARAMETERS:
        yield CLASS.too_long(("parameters",), _LARGEST_PARAMETERS)
    if not empty and not parameters:
        yield CLASS.required(("parameters",), "must contain at least one key/value pair")


def _check_topologies(value: Object) -> Iterator[Problem]:
    seen: list[dict[str, set[str]]] = [{}] * count(value, "allowedTopologies")
    for index, term in each(value, "allowedTopologies"):
        path = ("allowedTopologies", index)
        found: dict[str, set[str]] = {}
        for place, expression in each(term, "matchLabelExpressions"):
            at = (*path, "matchLabelExpressions", place)
            yield from _check_expression(expression, at)
            key = text(expression, "key")
            if key in found:
                yield TOPOLOGY.duplicate((*at, "key"), key)
            found[key] = {entry for _, entry in texts(expression, "values")}
        if found in seen:
            yield TOPOLOGY.duplicate((*path, "matchLabelExpressions"), "")
        seen.append(found)


def _check_expression(expression: Object, path: Path) -> Iterator[Problem]:
    key = expression.get("key") or ""
    if detail := names.label_key(key):
        yield TOPOLOGY.invalid((*path, "key"), key, detail)
    if not count(expression, "values"):
        yield TOPOLOGY.required((*path, "values"))
    seen: set[str] = set()
    for index, value in texts(expression, "values"):
        if value in seen:
            yield TOPOLOGY.duplicate((*path, "values", index), value)
        seen.add(value)


def check_csi_driver(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a CSIDriver, and a change of how its volumes are attached."""
    spec = inner(value, "spec")
    policy = spec.get("fsGroupPolicy")
    policies = ("File", "None", "ReadWriteOnceWithFSType")
    if policy is not None and policy not in policies:
        yield DRIVER.unsupported(("spec", "fsGroupPolicy"), policy, policies)
    yield from _check_tokens(spec)
    for index, mode in texts(spec, "volumeLifecycleModes"):
        if mode not in ("Persistent", "Ephemeral"):
            yield DRIVER.unsupported(("spec", "volumeLifecycleModes", index), mode, ("Persistent", "Ephemeral"))
    period = number(spec, "nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _SHORTEST_PERIOD:
        at = ("spec", "nodeAllocatableUpdatePeriodSeconds")
        yield DRIVER.invalid(at, period, f"must be at least {_SHORTEST_PERIOD} seconds")
    if spec.get("serviceAccountTokenInSecrets") is not None and not count(spec, "tokenRequests"):
        at = ("spec", "serviceAccountTokenInSecrets")
        yield DRIVER.invalid(at, spec["serviceAccountTokenInSecrets"], "needs tokenRequests")
    if old is not None:
        before = inner(old, "spec")
        for field in ("attachRequired", "volumeLifecycleModes"):
            yield from check_immutable(spec.get(field), before.get(field), ("spec", field), IMMUTABLE)


def _check_tokens(spec: Object) -> Iterator[Problem]:
    seen: list[Any] = []
    for index, request in each(spec, "tokenRequests"):
        path = ("spec", "tokenRequests", index)
        audience, seconds = request.get("audience") or "", number(request, "expirationSeconds")
        if audience in seen:
            yield DRIVER.duplicate((*path, "audience"), audience)
        elif seconds is not None and not _SHORTEST_TOKEN <= seconds <= 2**32:
            yield DRIVER.invalid((*path, "expirationSeconds"), seconds, "must be 10 minutes to 2^32 seconds")
        seen.append(audience)


def check_csi_capacity(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a CSIStorageCapacity, and a change of where it applies."""
    yield from check_label_selector(value.get("nodeTopology"), ("nodeTopology",))
    name = value.get("storageClassName") or ""
    if detail := names.dns_subdomain(name):
        yield CAPACITY.invalid(("storageClassName",), name, detail)
    for field in ("capacity", "maximumVolumeSize"):
        amount = value.get(field)
        if amount is not None:
            yield from check_quantity(amount, (field,))
            if field == "capacity" and (nanos(amount) or 0) < 0:
                yield CAPACITY.invalid((field,), amount, "must be greater than or equal to 0")
    if old is not None:
        for field in ("nodeTopology", "storageClassName"):
            if differs(value.get(field), old.get(field), field):
                yield IMMUTABLE.invalid((field,), value.get(field), "field is immutable")
