"""PodDisruptionBudgets: one bound, as a count or a percentage, and a selector.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/policy/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.fractions import check_fraction
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, inner
from trainyard.upstream.apiserver.problems import Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/policy/validation/validation.go"
BUDGET = Rule(
    "core/disruption-budget",
    f"{SOURCE} ValidatePodDisruptionBudgetSpec",
    title="A PodDisruptionBudget has one valid limit.",
    fix="set either minAvailable or maxUnavailable, to a count or a percentage",
)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a PodDisruptionBudget."""
    spec = inner(value, "spec")
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield BUDGET.invalid(("spec",), spec["minAvailable"], "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        yield from check_fraction(spec.get(field), ("spec", field), BUDGET)
    yield from check_label_selector(spec.get("selector"), ("spec", "selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in ("AlwaysAllow", "IfHealthyBudget"):
        yield BUDGET.unsupported(("spec", "unhealthyPodEvictionPolicy"), policy, ("AlwaysAllow", "IfHealthyBudget"))
