"""The feature gates of a kubelet: which there are, what they are by default, and what a configuration makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Gate(NamedTuple):
    """A feature gate: its stage, whether it is on unless told otherwise, and whether it can be told otherwise."""

    stage: str
    default: bool
    locked: bool = False


ALPHA_OFF = """
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
    CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
    CloudControllerManagerWebhook ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerStopSignals
    CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions
    DRADeviceTaintRules DRADeviceTaints DRAExtendedResource DRAPartitionableDevices EventedPLEG GangScheduling
    GenericWorkload HPAScaleToZero InPlacePodLevelResourcesVerticalScaling LoggingAlphaOptions
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
    InTreePluginPortworxUnregister KubeletInUserNamespace MemoryQoS MutablePVNodeAffinity
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
    PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay
    RelaxedServiceNameValidation ResourceHealthStatus RestartAllContainersOnContainerExits
    RuntimeClassInImageCriApi StorageCapacityScoring StorageVersionAPI StrictIPCIDRValidation
    TaintTolerationComparisonOperators TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy
    UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
"""
BETA_OFF = """
    CRDObservedGenerationTracking ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
    CoordinatedLeaderElection DeclarativeValidationTakeover LocalStorageCapacityIsolationFSQuotaMonitoring
    MaxUnavailableStatefulSet MutatingAdmissionPolicy NodeLogQuery PodCertificateRequest SELinuxMount
    SchedulerAsyncAPICalls StorageVersionMigrator WatchCacheInitializationPostStartHook
"""
BETA_ON = """
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CSIServiceAccountTokenSecrets
    ClearingNominatedNodeNameAfterBinding ContainerCheckpoint ContainerRestartRules ContextualLogging DRAAdminAccess
    DRAPrioritizedList DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout DeclarativeValidation
    DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs EnvFiles
    ExternalServiceAccountTokenSigner GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
    HPAConfigurableTolerance HostnameOverride ImageVolume InOrderInformers InOrderInformersBatchProcess
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletFineGrainedAuthz KubeletPSI
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
    MatchLabelKeysInPodTopologySpread
    MatchLabelKeysInPodTopologySpreadSelectorMerge MutableCSINodeAllocatableCount
    NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodDeletionCost PodLevelResources
    PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences ProcMountType ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
    RotateKubeletServerCertificate SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StatefulSetSemanticRevisionComparison StorageVersionHash StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UserNamespacesSupport WatchList WatchListClient WindowsGracefulNodeShutdown
"""
STABLE_ON = """
    InformerResourceVersion TopologyManagerPolicyOptions VolumeAttributesClass
"""
STABLE_ON_FIXED = """
    APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
    AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
    ConsistentListFromCache CustomResourceFieldSelectors DisableAllocatorDualWrite DynamicResourceAllocation
    ExecProbeTimeout HonorPVReclaimPolicy ImageMaximumGCAge InPlacePodVerticalScaling JobBackoffLimitPerIndex
    JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletTracing
    LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager MultiCIDRServiceAllocator NFTablesProxyMode
    NodeInclusionPolicyInPodTopologySpread NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
    PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
    PreferSameTrafficDistribution RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
    RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
    RetryGenerateName SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    ServiceTrafficDistribution SidecarContainers StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
    StructuredAuthorizationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints WinDSR
    WinOverlay
"""
DEPRECATED_OFF = """
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
    GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus KMSv1 KubeletRegistrationGetOnExistsOnly
    SeparateCacheWatchRPC WindowsHostNetwork
"""
DEPRECATED_OFF_FIXED = """
    AllowOverwriteTerminationGracePeriodSeconds WatchFromStorageWithoutResourceVersion
"""
DEPRECATED_ON = """
    DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods StorageNamespaceIndex
"""
DEPRECATED_ON_FIXED = """
    AggregatedDiscoveryRemoveBetaType
"""

GATES = {
    "AllAlpha": Gate("alpha", default=False),
    "AllBeta": Gate("beta", default=False),
    **dict.fromkeys(ALPHA_OFF.split(), Gate("alpha", default=False)),
    **dict.fromkeys(BETA_OFF.split(), Gate("beta", default=False)),
    **dict.fromkeys(BETA_ON.split(), Gate("beta", default=True)),
    **dict.fromkeys(STABLE_ON.split(), Gate("stable", default=True)),
    **dict.fromkeys(STABLE_ON_FIXED.split(), Gate("stable", default=True, locked=True)),
    **dict.fromkeys(DEPRECATED_OFF.split(), Gate("deprecated", default=False)),
    **dict.fromkeys(DEPRECATED_OFF_FIXED.split(), Gate("deprecated", default=False, locked=True)),
    **dict.fromkeys(DEPRECATED_ON.split(), Gate("deprecated", default=True)),
    **dict.fromkeys(DEPRECATED_ON_FIXED.split(), Gate("deprecated", default=True, locked=True)),
}
"""All gates of a kubelet 1.35.4 (kubernetes v1.35.4 pkg/features; apiserver, component-base, client-go v0.35.4)."""

NEEDS = {
    "AuthorizeNodeWithSelectors": ("AuthorizeWithSelectors",),
    "ClusterTrustBundleProjection": ("ClusterTrustBundle",),
    "DRAAdminAccess": ("DynamicResourceAllocation",),
    "DRAConsumableCapacity": ("DynamicResourceAllocation",),
    "DRADeviceBindingConditions": ("DRAResourceClaimDeviceStatus", "DynamicResourceAllocation"),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceTaints": ("DynamicResourceAllocation",),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "DRAPartitionableDevices": ("DynamicResourceAllocation",),
    "DRAPrioritizedList": ("DynamicResourceAllocation",),
    "DRASchedulerFilterTimeout": ("DynamicResourceAllocation",),
    "DeclarativeValidationTakeover": ("DeclarativeValidation",),
    "DisableAllocatorDualWrite": ("MultiCIDRServiceAllocator",),
    "GangScheduling": ("GenericWorkload",),
    "GracefulNodeShutdownBasedOnPodPriority": ("GracefulNodeShutdown",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "NodeDeclaredFeatures",
        "PodLevelResources",
    ),
    "InPlacePodVerticalScalingAllocatedStatus": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling", "MemoryManager"),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": ("MatchLabelKeysInPodTopologySpread",),
    "PodCertificateRequest": ("AuthorizeNodeWithSelectors",),
    "PodLifecycleSleepActionAllowZero": ("PodLifecycleSleepAction",),
    "ProcMountType": ("UserNamespacesSupport",),
    "ResourceHealthStatus": ("DynamicResourceAllocation",),
    "RestartAllContainersOnContainerExits": ("ContainerRestartRules", "NodeDeclaredFeatures"),
    "ServiceAccountTokenNodeBinding": ("ServiceAccountTokenNodeBindingValidation",),
    "StorageVersionAPI": ("APIServerIdentity",),
    "StructuredAuthenticationConfigurationEgressSelector": ("StructuredAuthenticationConfiguration",),
    "StructuredAuthenticationConfigurationJWKSMetrics": ("StructuredAuthenticationConfiguration",),
    "UnknownVersionInteroperabilityProxy": ("APIServerIdentity",),
    "UserNamespacesHostNetworkSupport": ("UserNamespacesSupport",),
    "WindowsCPUAndMemoryAffinity": ("MemoryManager",),
    "WindowsGracefulNodeShutdown": ("GracefulNodeShutdown",),
}
"""Gates that are on only beside others (kubernetes v1.35.4 pkg/features defaultKubernetesFeatureGateDependencies)."""

ALL = {"AllAlpha": "alpha", "AllBeta": "beta"}
"""Gates that stand for all others of a stage that are not named."""


class Gates:
    """The gates of a kubelet after its configuration has set some of them."""

    def __init__(self, told: Mapping[str, bool]) -> None:
        self.told = told
        self.problems = tuple(_problems(told)) or tuple(_lacking(self))

    def on(self, name: str) -> bool:
        """Whether a gate is on."""
        if name in self.told:
            return self.told[name]
        gate = GATES[name]
        for every, stage in ALL.items():
            if gate.stage == stage and every in self.told:
                return self.told[every]
        return gate.default


def _problems(told: Mapping[str, bool]) -> Iterator[str]:
    """Yield the problems with gates one by one (component-base v0.35.4 featuregate/feature_gate.go)."""
    for name, value in sorted(told.items()):
        gate = GATES.get(name)
        if gate is None:
            yield f"unrecognized feature gate: {name}"
            return
        if gate.locked and gate.default != value:
            yield (f"cannot set feature gate {name} to {_text(value)}, feature is locked to {_text(gate.default)}")


def _lacking(gates: Gates) -> Iterator[str]:
    for name, needed in NEEDS.items():
        if gates.on(name) and (off := [gate for gate in needed if not gates.on(gate)]):
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"


def _text(value: bool) -> str:
    return str(value).lower()
