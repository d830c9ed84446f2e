"""Feature gates whose state somebody said, of those that change a verdict here; all others are as releases have them.

What a gate brings that is on by default is known to the release's schemas and rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.base.errors import TrainyardError
from trainyard.base.findings import did_you_mean

_JOBSET = "kubernetes-sigs/jobset v0.12.0 pkg/features/features.go"
_KUBERAY = "ray-project/kuberay v1.7.0 ray-operator/pkg/features/features.go"
_KUEUE = "kubernetes-sigs/kueue v0.19.2 pkg/features/kube_features.go"
_KUBERNETES = "kubernetes/kubernetes v1.37.2 pkg/features/kube_features.go"

KNOWN = {
    "GenericWorkload": _KUBERNETES,
    "WorkloadWithJob": _KUBERNETES,
    "CompositePodGroup": _KUBERNETES,
    "DRAWorkloadResourceClaims": _KUBERNETES,
    "PodGroupPreemptionPolicy": _KUBERNETES,
    "TopologyAwareWorkloadScheduling": _KUBERNETES,
    "ElasticJobSet": _JOBSET,
    "InPlaceRestart": _JOBSET,
    "RestartJob": _JOBSET,
    "GCSFaultToleranceEmbeddedStorage": _KUBERAY,
    "RayClusterHistoryServer": _KUBERAY,
    "RayClusterMTLS": _KUBERAY,
    "RayClusterNetworkPolicy": _KUBERAY,
    "RayCronJob": _KUBERAY,
    "RayJobDeletionPolicy": _KUBERAY,
    "RayServiceIncrementalUpgrade": _KUBERAY,
    "AdmissionGatedBy": _KUEUE,
    "ElasticJobsViaWorkloadSlices": _KUEUE,
    "LWSImmutableGroupSize": _KUEUE,
    "PriorityBoost": _KUEUE,
    "TASMultiLayerTopology": _KUEUE,
    "TASValidateWorkloadSliceSize": _KUEUE,
    "TopologyAwareScheduling": _KUEUE,
    "ValidateRayAndSparkJobUpdates": _KUEUE,
    "WorkloadValidateResourcesAreNonNegative": _KUEUE,
    "WorkloadValidationForPodSetMetadata": _KUEUE,
}
"""Gates that change a verdict, each with where its default is written."""

OFF = "the {} feature gate is off; turn it on in the operator's values, or name it in --feature-gates"
"""Why a field is refused."""

ON = frozenset(
    {
        *("RayJobDeletionPolicy", "RayServiceIncrementalUpgrade"),
        *("AdmissionGatedBy", "ElasticJobsViaWorkloadSlices", "LWSImmutableGroupSize", "TASMultiLayerTopology"),
        *("TASValidateWorkloadSliceSize", "TopologyAwareScheduling", "ValidateRayAndSparkJobUpdates"),
        *("WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata"),
    }
)
"""Those that the newest release has on."""


@dataclass(frozen=True, slots=True)
class Gates(Collection[str]):
    """The gates that somebody turned on, and those that somebody turned off; it holds the first."""

    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()

    @classmethod
    def of(cls, states: Mapping[str, bool]) -> Gates:
        """Return gates by the state of each."""
        on = frozenset(name for name, state in states.items() if state)
        return cls(on, frozenset(states) - on)

    def enabled(self, name: str, *, default: bool = False) -> bool:
        """Whether a gate is on; `default` is what the release has where nobody said anything."""
        return name in self.on or (default and name not in self.off)

    def over(self, other: Gates) -> Gates:
        """Return these gates, and those of the others of which these say nothing."""
        return Gates(self.on | (other.on - self.off), self.off | (other.off - self.on))

    @property
    def states(self) -> dict[str, bool]:
        """The state of each gate, by name."""
        return {**dict.fromkeys(sorted(self.on), True), **dict.fromkeys(sorted(self.off), False)}

    def __contains__(self, name: object) -> bool:
        return name in self.on

    def __iter__(self) -> Iterator[str]:
        return iter(self.on)

    def __len__(self) -> int:
        return len(self.on)


def parse_gates(given: Iterable[str]) -> Gates:
    """Return the gates of `Name=true` and `Name=false` with commas; raises TrainyardError for others."""
    states: dict[str, bool] = {}
    for entry in (part.strip() for text in given for part in text.split(",") if part.strip()):
        name, _, state = entry.partition("=")
        if state not in ("true", "false"):
            raise TrainyardError(f"--feature-gates {entry!r} must be Name=true or Name=false")
        if name not in KNOWN:
            raise TrainyardError(f"feature gate {name!r} has no effect on any check; {did_you_mean(name, KNOWN)}")
        states[name] = state == "true"
    return Gates.of(states)
