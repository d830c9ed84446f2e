"""Fields of queues, Workloads and of Kueue's configuration that change decisions, and values to set them to."""

from __future__ import annotations

from typing import Any

from trainyard.upstream.kueue.model.gates import OFF, ON

UNSUPPORTED = frozenset({"ConcurrentAdmission", "ElasticJobsViaWorkloadSlicesWithTAS"})
"""Gates of what is not restated: variants of a Workload, and slices of one that grows."""

GATES = sorted((ON | OFF) - UNSUPPORTED)

WITHIN_COHORT = (
    {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
    {"reclaimWithinCohort": "LowerPriority", "withinClusterQueue": "LowerOrNewerEqualPriority"},
    {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
    {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 1}},
    {"withinClusterQueue": "LowerPriority"},
)
ANYWHERE = (
    {"unconstrained": True},
    {"preferred": "kubernetes.io/hostname"},
    {"required": "kubernetes.io/hostname"},
    *({how: level} for how in ("required", "preferred") for level in ("block", "rack")),
    *(
        {"required": "block", "podSetSliceRequiredTopology": level, "podSetSliceSize": size}
        for level in ("rack", "kubernetes.io/hostname")
        for size in (1, 2, 3)
    ),
    {"preferred": "rack", "podSetGroupName": "one"},
    {"required": "rack", "podSetGroupName": "one"},
    {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2},
)
PREFERENCES = (
    {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"},
    {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"},
    {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"},
    *(
        {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": item}
        for item in ("BorrowingOverPreemption", "PreemptionOverBorrowing")
    ),
)
STRATEGIES = (["LessThanOrEqualToFinalShare"], ["LessThanInitialShare"], None)
QUOTA = ("resourceGroups[]", "flavors[]", "resources[]")
COHORTS = ("all", "root", "left", "right", "team", "other")

SETTINGS: tuple[tuple[str, tuple[str, ...], tuple[Any, ...]], ...] = (
    ("ClusterQueue", ("spec", "stopPolicy"), ("None", "Hold", "HoldAndDrain")),
    ("ClusterQueue", ("spec", "queueingStrategy"), ("StrictFIFO", "BestEffortFIFO")),
    *(2 * (("ClusterQueue", ("spec", "preemption"), WITHIN_COHORT),)),
    ("ClusterQueue", ("spec", "preemption", "withinClusterQueue"), ("Never", "LowerPriority")),
    ("ClusterQueue", ("spec", "flavorFungibility"), PREFERENCES),
    ("ClusterQueue", ("spec", "fairSharing"), ({"weight": 0}, {"weight": "500m"}, {"weight": 2}, {"weight": 1})),
    ("ClusterQueue", ("spec", "cohortName"), (*COHORTS, None)),
    ("ClusterQueue", ("spec", "namespaceSelector"), ({}, None, {"matchLabels": {"team": "a"}})),
    ("ClusterQueue", ("spec", "admissionScope"), ({"admissionMode": "UsageBasedAdmissionFairSharing"},)),
    *(2 * (("ClusterQueue", ("spec", *QUOTA, "nominalQuota"), (0, 1, 2, 3, 4, 6, 10)),)),
    ("ClusterQueue", ("spec", *QUOTA, "borrowingLimit"), (0, 1, 2, 4, None)),
    ("ClusterQueue", ("spec", *QUOTA, "lendingLimit"), (0, 1, 2, None)),
    ("Cohort", ("spec", "parentName"), (*COHORTS, None)),
    ("Cohort", ("spec", "fairSharing"), ({"weight": 0}, {"weight": "500m"}, {"weight": 2})),
    ("Cohort", ("spec", *QUOTA, "nominalQuota"), (0, 1, 2, 4, 8)),
    ("Cohort", ("spec", *QUOTA, "borrowingLimit"), (0, 1, 3, None)),
    ("Cohort", ("spec", *QUOTA, "lendingLimit"), (0, 1, 3, None)),
    ("LocalQueue", ("spec", "stopPolicy"), ("None", "Hold", "HoldAndDrain")),
    ("LocalQueue", ("spec", "fairSharing"), ({"weight": 2}, {"weight": "500m"})),
    ("Node", ("spec", "unschedulable"), (True, False)),
    ("Node", ("spec", "taints"), ([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], [])),
    ("Node", ("status", "allocatable", "cpu"), (0, 1, 2, 4, 8)),
    ("Node", ("status", "conditions"), ([{"type": "Ready", "status": "False"}],)),
    *(2 * (("Workload", ("spec", "priority"), (-1, 0, 1, 2, 9)),)),
    ("Workload", ("spec", "active"), (True, False)),
    ("Workload", ("spec", "podSets[]", "count"), (0, 1, 2, 3, 4, 5, 8)),
    ("Workload", ("spec", "podSets[]", "minCount"), (1, 1, 2, 3, None)),
    *(3 * (("Workload", ("spec", "podSets[]", "topologyRequest"), (*ANYWHERE, None)),)),
    ("Workload", ("status", "reclaimablePods"), ([{"name": "main", "count": 1}], [{"name": "main", "count": 2}])),
    ("Workload", ("metadata", "annotations"), ({"kueue.x-k8s.io/priority-boost": "3"}, {})),
    (
        "config",
        ("fairSharing",),
        ({}, *({"preemptionStrategies": strategy} for strategy in STRATEGIES if strategy), None),
    ),
    ("config", ("admissionFairSharing",), ({"usageHalfLifeTime": "10m", "usageSamplingInterval": "1m"}, None)),
    *(
        ("config", ("waitForPodsReady",), ({"requeuingStrategy": {"timestamp": item}},))
        for item in ("Creation", "Eviction")
    ),
    ("config", ("resources", "excludeResourcePrefixes"), (["example.com/"], ["cpu"], ["nvidia.com/"])),
    ("config", ("resources", "quotaCheckStrategy"), ("IgnoreUndeclared", "BlockUndeclared")),
)
"""A kind, or the configuration; a field of it; and what to set that to, None for leaving it out.

A name that ends in [] is one of a list.
"""
