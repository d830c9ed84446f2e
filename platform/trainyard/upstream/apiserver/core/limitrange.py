"""LimitRanges: bounds of what containers, pods and claims may ask for, and the defaults that follow from each other.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateLimitRange and
pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.resourcenames import container_resource_name, may_overcommit, resource_name
from trainyard.upstream.apiserver.core.shapes import Object, each, fill_absent, inner
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

LIMIT = Rule(
    "core/limit-range",
    f"{CORE} ValidateLimitRange",
    title="The limits of a LimitRange have valid types and do not contradict each other.",
    fix="order the values: min ≤ defaultRequest ≤ default ≤ max",
)

_MOST_UNITS = (2**63 - 1) // 1000
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default the limits and requests of containers from each other."""
    for _, limit in each(inner(value, "spec"), "limits"):
        if limit.get("type") != "Container":
            continue
        fill_absent(limit, "default", {})
        fill_absent(limit, "defaultRequest", {})
        default, request = limit["default"], limit["defaultRequest"]
        if type(default) is not dict or type(request) is not dict:
            continue
        for source, target in (("max", default), ("default", request), ("min", request)):
            for name, amount in inner(limit, source).items():
                target.setdefault(name, amount)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a LimitRange."""
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
    if all(as_int64(bound) < _MOST_UNITS for bound in bounds):
        return as_int64(bounds[0], thousandths=True) / 1000
    return as_int64(bounds[0])
