"""PodDisruptionBudgets, PriorityClasses, RuntimeClasses and Leases: small objects with few rules.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/{policy,scheduling,node,coordination}/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.apiserver.core.equality import check_immutable
from trainyard.apiserver.core.fractions import check_fraction
from trainyard.apiserver.core.pods.resources import check_resources
from trainyard.apiserver.core.pods.scheduling import check_tolerations
from trainyard.apiserver.core.selectors import check_label_selector
from trainyard.apiserver.core.shapes import Object, child, each, inner, number, text
from trainyard.apiserver.meta import names
from trainyard.apiserver.meta.metadata import check_labels
from trainyard.apiserver.problems import Problem, Rule

_APIS = "k8s.io/kubernetes v1.35.4 pkg/apis"
BUDGET = Rule("core/disruption-budget", f"{_APIS}/policy/validation/validation.go ValidatePodDisruptionBudgetSpec")
PRIORITY = Rule("core/priority-class", f"{_APIS}/scheduling/validation/validation.go ValidatePriorityClass")
PRIORITY_UPDATE = Rule(
    "update/priority-class", f"{_APIS}/scheduling/validation/validation.go ValidatePriorityClassUpdate"
)
RUNTIME = Rule("core/runtime-class", f"{_APIS}/node/validation/validation.go ValidateRuntimeClass")
RUNTIME_UPDATE = Rule("update/runtime-class", f"{_APIS}/node/validation/validation.go ValidateRuntimeClassUpdate")
LEASE = Rule("core/lease", f"{_APIS}/coordination/validation/validation.go ValidateLeaseSpec")

_HIGHEST = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_PREEMPTION = ("PreemptLowerPriority", "Never")


def check_budget(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield what is wrong with a PodDisruptionBudget."""
    spec = inner(value, "spec")
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield BUDGET.invalid(("spec",), spec["minAvailable"], "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        yield from check_fraction(spec.get(field), ("spec", field), BUDGET)
    yield from check_label_selector(spec.get("selector"), ("spec", "selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in ("AlwaysAllow", "IfHealthyBudget"):
        yield BUDGET.unsupported(("spec", "unhealthyPodEvictionPolicy"), policy, ("AlwaysAllow", "IfHealthyBudget"))


def check_priority_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield what is wrong with a PriorityClass, and a change of its value or policy."""
    name, priority = text(inner(value, "metadata"), "name"), number(value, "value") or 0
    if name.startswith("system-"):
        if _SYSTEM.get(name) != priority or value.get("globalDefault") is True:
            yield PRIORITY.forbidden(
                ("metadata", "name"), "the prefix system- is reserved for the system's own classes"
            )
    elif priority > _HIGHEST:
        yield PRIORITY.forbidden(("value",), f"the highest value of a user-defined priority is {_HIGHEST}")
    policy = value.get("preemptionPolicy")
    if policy is not None and policy not in _PREEMPTION:
        yield PRIORITY.unsupported(("preemptionPolicy",), policy, _PREEMPTION)
    if old is not None:
        if priority != (number(old, "value") or 0):
            yield PRIORITY_UPDATE.forbidden(("value",), "may not be changed in an update")
        yield from check_immutable(policy, old.get("preemptionPolicy"), ("preemptionPolicy",), PRIORITY_UPDATE)


def check_runtime_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield what is wrong with a RuntimeClass, and a change of its handler."""
    handler = value.get("handler") or ""
    if detail := names.dns_label(handler):
        yield RUNTIME.invalid(("handler",), handler, detail)
    fixed = {"limits": inner(value, "overhead", "podFixed")}
    yield from check_resources(fixed, set(), ("overhead", "podFixed"))
    if (scheduling := child(value, "scheduling")) is not None:
        yield from check_labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"))
        yield from check_tolerations(scheduling, ("scheduling",))
        seen = []
        for index, toleration in each(scheduling, "tolerations"):
            key = [text(toleration, field) for field in ("key", "operator", "value", "effect")]
            if key in seen:
                yield RUNTIME.duplicate(("scheduling", "tolerations", index), toleration)
            seen.append(key)
    if old is not None:
        yield from check_immutable(handler, old.get("handler") or "", ("handler",), RUNTIME_UPDATE)


def check_lease(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield what is wrong with a Lease; strategy and preferred holder are behind a gate that is off."""
    spec = inner(value, "spec")
    duration, transitions = number(spec, "leaseDurationSeconds"), number(spec, "leaseTransitions")
    if duration is not None and duration <= 0:
        yield LEASE.invalid(("spec", "leaseDurationSeconds"), duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield LEASE.invalid(("spec", "leaseTransitions"), transitions, "must be greater than or equal to 0")
