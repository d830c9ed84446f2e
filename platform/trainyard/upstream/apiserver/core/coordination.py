"""Leases, the one kind of coordination.k8s.io that is on by default.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/coordination/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, inner, number
from trainyard.upstream.apiserver.problems import Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/coordination/validation/validation.go"
LEASE = Rule(
    "core/lease",
    f"{SOURCE} ValidateLeaseSpec",
    title="A Lease has valid durations, transitions and strategy.",
    fix="set leaseDurationSeconds above 0 and leaseTransitions to 0 or more",
)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a Lease; strategy and preferred holder are behind a gate that is off."""
    spec = inner(value, "spec")
    duration, transitions = number(spec, "leaseDurationSeconds"), number(spec, "leaseTransitions")
    if duration is not None and duration <= 0:
        yield LEASE.invalid(("spec", "leaseDurationSeconds"), duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield LEASE.invalid(("spec", "leaseTransitions"), transitions, "must be greater than or equal to 0")
