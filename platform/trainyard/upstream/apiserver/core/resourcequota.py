"""ResourceQuotas: amounts of resources that can be counted, and scopes that stay.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateResourceQuota.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.resourcenames import is_standard_quota, is_whole, quota_resource_name
from trainyard.upstream.apiserver.core.selectors import OPERATORS
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, text, texts
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

QUOTA = Rule(
    "core/resource-quota",
    f"{CORE} ValidateResourceQuotaSpec",
    title="A ResourceQuota has valid resource names and amounts.",
    fix="use standard names such as requests.cpu, with amounts of at least 0",
)
SCOPE = Rule(
    "core/quota-scope",
    f"{CORE} validateResourceQuotaScopes",
    title="Scopes of a ResourceQuota are valid together and suit its resources.",
    fix="remove the scope or the resource that the message names",
)
IMMUTABLE = Rule(
    "update/resource-quota",
    f"{CORE} ValidateResourceQuotaUpdate",
    title="An update keeps the scopes of a ResourceQuota.",
    fix="restore spec.scopes, or create another ResourceQuota",
)

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


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a ResourceQuota, and a change of its scopes."""
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
            yield SCOPE.invalid((*path, "operator"), operator, f"must be {OPERATORS}")
    yield from _check_conflicts(scopes, ("spec", "scopeSelector"))
