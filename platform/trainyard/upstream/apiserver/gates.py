"""Feature gates that somebody turned on: those that are off by default, and whose state changes a verdict here.

A release's defaults hold for all others: what a gate brings that is on by default is known to the release's schemas.
"""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.base.errors import TrainyardError
from trainyard.base.findings import did_you_mean

OFF = {
    "GenericWorkload": "kubernetes/kubernetes v1.37.2 pkg/features/kube_features.go",
    "WorkloadWithJob": "kubernetes/kubernetes v1.37.2 pkg/features/kube_features.go",
    "ElasticJobSet": "kubernetes-sigs/jobset v0.12.0 pkg/features/features.go",
    "InPlaceRestart": "kubernetes-sigs/jobset v0.12.0 pkg/features/features.go",
    "RestartJob": "kubernetes-sigs/jobset v0.12.0 pkg/features/features.go",
    "GCSFaultToleranceEmbeddedStorage": "ray-project/kuberay v1.7.0 ray-operator/pkg/features/features.go",
    "RayClusterHistoryServer": "ray-project/kuberay v1.7.0 ray-operator/pkg/features/features.go",
    "RayClusterMTLS": "ray-project/kuberay v1.7.0 ray-operator/pkg/features/features.go",
    "RayClusterNetworkPolicy": "ray-project/kuberay v1.7.0 ray-operator/pkg/features/features.go",
}
"""By name, where it is said that the gate is off by default."""


def parse_gates(given: Iterable[str]) -> frozenset[str]:
    """Return the gates that are on, of `Name=true` and `Name=false` with commas; raises TrainyardError for others."""
    on: dict[str, bool] = {}
    for entry in (part.strip() for text in given for part in text.split(",") if part.strip()):
        name, _, state = entry.partition("=")
        if state not in ("true", "false"):
            raise TrainyardError(f"--feature-gates {entry!r} must be Name=true or Name=false")
        if name not in OFF:
            raise TrainyardError(f"feature gate {name!r} has no effect on any check; {did_you_mean(name, OFF)}")
        on[name] = state == "true"
    return frozenset(name for name, state in on.items() if state)
