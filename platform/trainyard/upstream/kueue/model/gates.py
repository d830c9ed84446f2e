"""Kueue's feature gates that change a decision, with their defaults (kueue v0.19.2 pkg/features/kube_features.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

ON = frozenset(
    {
        *("AdmissionFairSharing", "AdmissionGatedBy", "ElasticJobsViaWorkloadSlices"),
        *("FairSharingPreemptWithinNominal", "FairSharingPrioritizeNonBorrowing", "FlavorFungibility"),
        *("FlavorFungibilityPreserveScanProgress", "KueueDRAIntegration"),
        *("KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices"),
        *("KueueDRARejectWorkloadsWhenDRADisabled", "PartialAdmission", "PrioritySortingWithinCohort"),
        *("QuotaCheckStrategy", "ReclaimablePods", "SchedulingEquivalenceHashing"),
        *("SkipReassignmentForPodOwnedWorkloads", "TASCacheNodeMatchResults"),
        *("TASCachingRemainingResources", "TASFailedNodeReplacement", "TASFailedNodeReplacementFailFast"),
        *("TASHandleOverlappingFlavors", "TASMultiLayerTopology", "TASProfileMixed"),
        *("TASRecomputeAssignmentWithinSchedulingCycle", "TASValidateWorkloadSliceSize"),
        *("TopologyAwareScheduling", "VectorizedResourceRequests"),
        *("WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata"),
    }
)
OFF = frozenset(
    {
        *("ConcurrentAdmission", "ElasticJobsViaWorkloadSlicesWithTAS"),
        *("KueueDRAIntegrationConsumableCapacity", "PrioritizePreemptorWorkloads", "PriorityBoost"),
        *("RecomputeAssignmentUponPreemptionTargetsOverlap", "SchedulerTimestampPreemptionBuffer"),
        *("TASBalancedPlacement", "TASCacheTopologyTree", "TASRespectNodeAffinityPreferred"),
        *("UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability"),
    }
)


class Gates(Mapping[str, bool]):
    """Gates by name; what is not set has its default, and a gate that is not listed here is off."""

    def __init__(self, given: Mapping[str, bool] | None = None) -> None:
        self._all = {**dict.fromkeys(ON, True), **dict.fromkeys(OFF, False), **(given or {})}

    def __getitem__(self, name: str) -> bool:
        return self._all.get(name, False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)
