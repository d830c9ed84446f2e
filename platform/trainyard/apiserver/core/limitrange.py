"""LimitRanges and ResourceQuotas.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateLimitRange, ValidateResourceQuota.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.apiserver.core.pods.rules import CORE
from trainyard.apiserver.core.resourcenames import (
    container_resource_name,
    is_standard_quota,
    is_whole,
    may_overcommit,
    quota_resource_name,
    resource_name,
)
from trainyard.apiserver.core.shapes import Object, child, count, each, inner, text, texts
from trainyard.apiserver.meta import names
from trainyard.apiserver.problems import Path, Problem, Rule

LIMIT = Rule("core/limit-range", f"{CORE} ValidateLimitRange")
QUOTA = Rule("core/resource-quota", f"{CORE} ValidateResourceQuotaSpec")
SCOPE = Rule("core/quota-scope", f"{CORE} validateResourceQuotaScopes")
IMMUTABLE = Rule("update/resource-quota", f"{CORE} ValidateResourceQuotaUpdate")

_MOST_UNITS = (2**63 - 1) // 1000
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_COMPUTE = frozenset({"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_SCOPES = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "CrossNamespacePodAffinity": _COMPUTE,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_ONLY_EXISTS = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_CONFLICTS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


def check_limit_range(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield what is wrong with a LimitRange."""
    seen = []
    for index, limit in each(inner(value, "spec"), "limits"):
        path = ("spec", "limits", index)
        kind = limit.get("type") or ""
        if detail := names.label_key(kind):
            yield LIMIT.invalid((*path, "type"), kind, detail)
        elif isinstance(kind, str) and "/" not in kind and kind not in ("Pod", "Container", "PersistentVolumeClaim"):
            yield LIMIT.invalid((*path, "type"), kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield LIMIT.duplicate((*path, "type"), kind)
        seen.append(kind)
        yield from _check_limit(limit, kind, path)


def _check_limit(limit: Object, kind: object, path: Path) -> Iterator[Problem]:
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    lists = {field: inner(limit, field) for field in _LISTS}
    for field, amounts in lists.items():
        if kind == "Pod" and field.startswith("default"):
            if amounts:
                yield LIMIT.forbidden((*path, field), "may not be specified when type is Pod")
            continue
        for name, amount in amounts.items():
            if detail := rule(name):
                yield LIMIT.invalid((*path, field, name), name, detail)
            if millis(amount) is None:
                yield QUANTITY.invalid((*path, field, name), amount, NOT_QUANTITY)
    if kind == "PersistentVolumeClaim" and "storage" not in {*lists["min"], *lists["max"]}:
        yield LIMIT.required(path, "either minimum or maximum storage is required")
    for name in sorted({str(name) for amounts in lists.values() for name in amounts}):
        yield from _check_bounds(name, lists, kind, path)


def _check_bounds(name: str, lists: dict[str, Object], kind: object, path: Path) -> Iterator[Problem]:
    found = {field: millis(amounts[name]) for field, amounts in lists.items() if name in amounts}
    low, high, ratio = found.get("min"), found.get("max"), found.get("maxLimitRequestRatio")
    default, request = (None, None) if kind == "Pod" else (found.get("default"), found.get("defaultRequest"))
    for smaller, larger, field, detail in (
        (low, high, "min", "is greater than max"),
        (low, request, "defaultRequest", "is less than min"),
        (request, high, "defaultRequest", "is greater than max"),
        (request, default, "defaultRequest", "is greater than default"),
        (low, default, "default", "is less than min"),
        (default, high, "default", "is greater than max"),
    ):
        if smaller is not None and larger is not None and smaller > larger:
            yield LIMIT.invalid((*path, field, name), lists[field][name], detail)
    at = (*path, "maxLimitRequestRatio", name)
    if ratio is not None and ratio < 1000:
        yield LIMIT.invalid(at, lists["maxLimitRequestRatio"][name], "must be at least 1")
    if ratio is not None and low and high is not None and _ratio(lists, name) > high / low:
        yield LIMIT.invalid(at, lists["maxLimitRequestRatio"][name], "is greater than max divided by min")
    if default is not None and request is not None and default != request and not may_overcommit(name):
        yield LIMIT.invalid((*path, "defaultRequest", name), lists["defaultRequest"][name], "must equal default")


def _ratio(lists: dict[str, Object], name: str) -> float:
    """A ratio as the server counts it: in thousandths, unless a bound is too large for that."""
    bounds = [lists[field][name] for field in ("maxLimitRequestRatio", "min", "max")]
    if all(as_int64(each) < _MOST_UNITS for each in bounds):
        return as_int64(bounds[0], thousandths=True) / 1000
    return as_int64(bounds[0])


def check_quota(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield what is wrong with a ResourceQuota, and a change of its scopes."""
    spec = inner(value, "spec")
    hard = child(spec, "hard") or {}
    for name, amount in hard.items():
        path = ("spec", "hard", name)
        if detail := quota_resource_name(name):
            yield QUOTA.invalid(path, name, detail)
        size = millis(amount)
        if size is None:
            yield QUANTITY.invalid(path, amount, NOT_QUANTITY)
        elif size < 0:
            yield QUOTA.invalid(path, amount, "must be greater than or equal to 0")
        if size is not None and is_whole(name) and as_int64(amount, thousandths=True) % 1000:
            yield QUOTA.invalid(path, amount, "must be an integer")
    scopes = [scope for _, scope in texts(spec, "scopes")]
    for index, scope in enumerate(scopes):
        yield from _check_scope(scope, hard, ("spec", "scopes", index))
    yield from _check_conflicts(scopes, ("spec", "scopes"))
    yield from _check_selector(inner(spec, "scopeSelector"), hard)
    if old is not None and set(scopes) != {scope for _, scope in texts(inner(old, "spec"), "scopes")}:
        yield IMMUTABLE.invalid(("spec", "scopes"), scopes, "field is immutable")


def _check_scope(scope: str, hard: Object, path: Path) -> Iterator[Problem]:
    allowed = _SCOPES.get(scope)
    if allowed is None:
        yield SCOPE.unsupported(path, scope, tuple(sorted(_SCOPES)))
    elif any(is_standard_quota(name) and name not in allowed for name in hard):
        yield SCOPE.invalid(path, scope, "does not apply to every resource of this quota")


def _check_conflicts(scopes: list[str], path: Path) -> Iterator[Problem]:
    for pair in _CONFLICTS:
        if pair <= set(scopes):
            yield SCOPE.invalid(path, scopes, "conflicting scopes")


def _check_selector(selector: Object, hard: Object) -> Iterator[Problem]:
    scopes = []
    for index, expression in each(selector, "matchExpressions"):
        path = ("spec", "scopeSelector", "matchExpressions", index)
        scope, operator, values = text(expression, "scopeName"), expression.get("operator"), count(expression, "values")
        scopes.append(scope)
        yield from _check_scope(scope, hard, (*path, "scopeName"))
        if scope in _ONLY_EXISTS and operator != "Exists":
            yield SCOPE.invalid((*path, "operator"), operator, f"must be Exists for scope {scope}")
        if operator in ("In", "NotIn"):
            if not values:
                yield SCOPE.required((*path, "values"), "at least one value with operator In or NotIn")
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                yield SCOPE.invalid((*path, "values"), values, "must be empty with operator Exists or DoesNotExist")
        else:
            yield SCOPE.invalid((*path, "operator"), operator, "not a valid selector operator")
    yield from _check_conflicts(scopes, ("spec", "scopeSelector"))
