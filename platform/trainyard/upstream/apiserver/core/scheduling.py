"""PriorityClasses of scheduling.k8s.io: values that are free to take, and that they stay.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/scheduling/validation/validation.go and pkg/apis/scheduling/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, fill_absent, inner, number, text
from trainyard.upstream.apiserver.problems import Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/scheduling/validation/validation.go"
PRIORITY = Rule(
    "core/priority-class",
    f"{SOURCE} ValidatePriorityClass",
    title="A PriorityClass has an allowed value and preemption policy.",
    fix="use a value of at most 1000000000; names with system- are reserved",
)
PRIORITY_UPDATE = Rule(
    "update/priority-class",
    f"{SOURCE} ValidatePriorityClassUpdate",
    title="An update keeps the value and the preemption policy of a PriorityClass.",
    fix="restore the field, or create another PriorityClass",
)

_HIGHEST = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_PREEMPTION = ("PreemptLowerPriority", "Never")


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default what a PriorityClass preempts."""
    fill_absent(value, "preemptionPolicy", "PreemptLowerPriority")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a PriorityClass, and a change of its value or policy."""
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
