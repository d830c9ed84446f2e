"""Kueue's feature gates that change a decision, with their defaults (kueue v0.19.2 pkg/features/kube_features.go).

A release before it decides in the same way with other defaults: of two thousand clusters drawn by chance 0.18.6 decides
none differently, and 0.17.8 and 0.16.9 a handful (`specs/releases/kueue.yaml`, `decisions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.versions import is_since, order

RELEASE = "0.19.2"
"""The release whose decisions are restated here."""

ON = frozenset(
    {
        *("AdmissionFairSharing", "FairSharingPreemptWithinNominal", "FairSharingPrioritizeNonBorrowing"),
        *("FlavorFungibility", "PartialAdmission", "PrioritySortingWithinCohort", "ReclaimablePods"),
        *("TASFailedNodeReplacement", "TASFailedNodeReplacementFailFast", "TASProfileMixed"),
        "TopologyAwareScheduling",
    }
)
"""Gates that are on since 0.16, or since a patch of it that `BEGUN` names (v0.16.9 pkg/features/kube_features.go)."""

LATER = {
    "0.17": frozenset(
        {
            *("TASCacheNodeMatchResults", "TASCachingRemainingResources"),
            *("TASRecomputeAssignmentWithinSchedulingCycle", "VectorizedResourceRequests"),
        }
    ),
    "0.18": frozenset(
        {
            *("ElasticJobsViaWorkloadSlices", "FlavorFungibilityPreserveScanProgress", "KueueDRAIntegration"),
            *("KueueDRARejectWorkloadsWhenDRADisabled", "SchedulingEquivalenceHashing"),
            "TASHandleOverlappingFlavors",
        }
    ),
    "0.19": frozenset(
        {
            *("AdmissionGatedBy", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices"),
            *("QuotaCheckStrategy", "SkipReassignmentForPodOwnedWorkloads", "TASMultiLayerTopology"),
        }
    ),
}
"""Gates that are on since a minor release, and off or unknown before it (v0.17.8, v0.18.6 and v0.19.2 of the same)."""

PATCHED = {
    **dict.fromkeys(
        (
            *("LWSImmutableGroupSize", "TASValidateWorkloadSliceSize"),
            *("WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata"),
        ),
        ("0.18.5", "0.19.1"),
    ),
    "ValidateRayAndSparkJobUpdates": ("0.18.6", "0.19.2"),
}
"""Gates that patches brought, on since the first: those patches by line (the same files of all tags since 0.16)."""

OFF = frozenset(
    {
        *("ConcurrentAdmission", "ElasticJobsViaWorkloadSlicesWithTAS"),
        *("KueueDRAIntegrationConsumableCapacity", "PrioritizePreemptorWorkloads", "PriorityBoost"),
        *("RecomputeAssignmentUponPreemptionTargetsOverlap", "SchedulerTimestampPreemptionBuffer"),
        *("TASBalancedPlacement", "TASCacheTopologyTree", "TASRespectNodeAffinityPreferred"),
        *("UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability"),
    }
)

BEGUN = {
    "ElasticJobsViaWorkloadSlices": "0",
    **dict.fromkeys(
        ("FairSharingPreemptWithinNominal", "SchedulerTimestampPreemptionBuffer", "SchedulingEquivalenceHashing"),
        "0.16.3",
    ),
    "TASHandleOverlappingFlavors": "0.16.9",
    **dict.fromkeys(("AdmissionGatedBy", "SkipReassignmentForPodOwnedWorkloads", "TASMultiLayerTopology"), "0.17"),
    **dict.fromkeys(("ElasticJobsViaWorkloadSlicesWithTAS", "PriorityBoost"), "0.17"),
    **dict.fromkeys(("ConcurrentAdmission", "PrioritizePreemptorWorkloads", "QuotaCheckStrategy"), "0.18"),
    **dict.fromkeys(("KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices"), "0.18"),
    **dict.fromkeys(("RecomputeAssignmentUponPreemptionTargetsOverlap", "TASCacheTopologyTree"), "0.18"),
    **dict.fromkeys(("TASRespectNodeAffinityPreferred", "UnadmittedWorkloadsExplicitStatus"), "0.18"),
    "UnadmittedWorkloadsObservability": "0.18",
    "KueueDRAIntegrationConsumableCapacity": "0.19",
}
"""Release since which a gate exists, where it is not the one since which it is on (the same files)."""

OWN_KEYS = {(0, 16): None, (0, 17): "0.17.8", (0, 18): "0.18.6"}
"""By minor release, the patch since which a flavor's own label keys alone count; None: none has it (kueue #12449)."""


ONE_TOPOLOGY = "0.16.3"
"""The release since which one flavor with a topology has others beside it (tas_flavorassigner.go onlyTASFlavor)."""

LEADERS_FIT = ("0.18.5", "0.19.1")
"""Releases by line since which pods of a group go where its leader fits (tas_flavor_snapshot.go findBestFitDomain)."""

ENDS_ALONE = "0.18.0"
"""The release since which a walk over victims ends at a queue without a cohort (fairsharing/ordering.go Iter)."""

ERRORS_BIND = ("0.17.5", "0.18.1", "0.19.0")
"""Releases by line since which errors in asking for places count (the same file of all tags, psError)."""


class Gates(Mapping[str, bool]):
    """Gates by name; what is not set has its release's default, and a gate that is not listed here is off."""

    def __init__(self, given: Mapping[str, bool] | None = None, release: str = RELEASE) -> None:
        """`release` is Kueue's; raises nothing for one that is not known, which is decided by its number."""
        self.release = release
        later = {gate: order(release) >= order(minor) for minor, gates in LATER.items() for gate in gates}
        on = {gate: order(release) >= order(BEGUN.get(gate, "0")) for gate in ON}
        on |= {gate: is_since(release, *firsts) for gate, firsts in PATCHED.items()}
        self._all = {**on, **later, **dict.fromkeys(OFF, False), **(given or {})}

    @property
    def known(self) -> frozenset[str]:
        """The gates of those listed here that the release has, whatever their default."""
        later = {gate: minor for minor, gates in LATER.items() for gate in gates}
        begun = {**later, **BEGUN}
        there = {gate: is_since(self.release, *PATCHED[gate]) for gate in PATCHED}
        return frozenset(gate for gate in self if there.get(gate, order(self.release) >= order(begun.get(gate, "0"))))

    @property
    def own_keys(self) -> bool:
        """Whether a pod's selector is compared with a flavor by the flavor's own labels only.

        Before, a key that any flavor of the resource group has must be met by the flavor that is tried.
        """
        since = OWN_KEYS.get(order(self.release)[:2], "0")
        return since is not None and order(self.release) >= order(since)

    @property
    def one_flavor(self) -> bool:
        """Whether pods with places get one flavor for all that they request, also of resources without topologies."""
        return not is_since(self.release, ONE_TOPOLOGY)

    @property
    def errors_bind(self) -> bool:
        """Whether a Workload of which no places can be asked for is not admitted."""
        return is_since(self.release, *ERRORS_BIND)

    @property
    def leaders_fit(self) -> bool:
        """Whether domains without room for a group's leader are left aside; before, a group may get no places."""
        return is_since(self.release, *LEADERS_FIT)

    @property
    def ends_alone(self) -> bool:
        """Whether Kueue survives fair sharing for a queue without a cohort whose victims are not enough."""
        return is_since(self.release, ENDS_ALONE)

    def __getitem__(self, name: str) -> bool:
        return self._all.get(name, False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)
