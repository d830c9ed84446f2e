"""The fields of a KubeletConfiguration and their types (k8s.io/kubelet v0.35.4 config/v1beta1/types.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from trainyard.upstream.kubelet.releases import is_since


@dataclass(frozen=True)
class Type:
    """A type of Go, by the name that its decoder gives it in messages."""

    go: str
    of: Type | None = None
    """What a list or a map holds."""
    fields: Mapping[str, Type] = field(default_factory=dict)
    """The fields of a struct."""

    @property
    def struct(self) -> str:
        """The name of a struct without its package, empty for any other type."""
        return self.go.rpartition(".")[2] if self.fields else ""


def struct(go: str, *typed: tuple[str, Type]) -> Type:
    """Return the type of a struct; each pair is fields of one type, with spaces between, and the type."""
    return Type(go, fields={name: kind for names, kind in typed for name in names.split()})


BOOL, STRING, INT32, INT64, FLOAT = (Type(go) for go in ("bool", "string", "int32", "int64", "float64"))
DURATION, QUANTITY = Type("v1.Duration"), Type("resource.Quantity")
LOG_DURATION = Type("v1.TimeOrMetaDuration")
TIME, QUANTITY_VALUE = Type("v1.Time"), Type("resource.QuantityValue")
STRINGS = Type("[]string", STRING)
STRING_MAP = Type("map[string]string", STRING)
BOOL_MAP = Type("map[string]bool", BOOL)
AMOUNTS = Type("v1.ResourceList", QUANTITY)


def named_type(go: str) -> Type:
    """Return a text of a type of its own."""
    return Type(f"v1beta1.{go}")


WEBHOOK = struct("v1beta1.KubeletWebhookAuthentication", ("enabled", BOOL), ("cacheTTL", DURATION))
AUTHENTICATION = struct(
    "v1beta1.KubeletAuthentication",
    ("x509", struct("v1beta1.KubeletX509Authentication", ("clientCAFile", STRING))),
    ("webhook", WEBHOOK),
    ("anonymous", struct("v1beta1.KubeletAnonymousAuthentication", ("enabled", BOOL))),
)
AUTHORIZATION = struct(
    "v1beta1.KubeletAuthorization",
    ("mode", named_type("KubeletAuthorizationMode")),
    ("webhook", struct("v1beta1.KubeletWebhookAuthorization", ("cacheAuthorizedTTL cacheUnauthorizedTTL", DURATION))),
)
OUTPUT = (("splitStream", BOOL), ("infoBufferSize", QUANTITY_VALUE))
VERBOSITY = Type("v1.VerbosityLevel")
VMODULE = Type("v1.VModuleConfiguration", struct("v1.VModuleItem", ("filePattern", STRING), ("verbosity", VERBOSITY)))
FORMATS = struct(
    "v1.FormatOptions", ("text", struct("v1.TextOptions", *OUTPUT)), ("json", struct("v1.JSONOptions", *OUTPUT))
)
LOGGING = struct(
    "v1.LoggingConfiguration",
    ("format", STRING),
    ("flushFrequency", LOG_DURATION),
    ("verbosity", VERBOSITY),
    ("vmodule", VMODULE),
    ("options", FORMATS),
)
SHUTDOWN = struct(
    "v1beta1.ShutdownGracePeriodByPodPriority", ("priority", INT32), ("shutdownGracePeriodSeconds", INT64)
)
RESERVATION = struct("v1beta1.MemoryReservation", ("numaNode", INT32), ("limits", AMOUNTS))
TAINT = struct("v1.Taint", ("key value", STRING), ("effect", Type("v1.TaintEffect")), ("timeAdded", TIME))

KUBELET = struct(
    "v1beta1.KubeletConfiguration",
    ("apiVersion kind", STRING),
    (
        """
        cgroupsPerQOS cpuCFSQuota enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
        enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery
        failCgroupV1 failSwapOn kernelMemcgNotification localStorageCapacityIsolation makeIPTablesUtilChains
        mergeDefaultEvictionSettings protectKernelDefaults registerNode rotateCertificates runOnce seccompDefault
        serializeImagePulls serverTLSBootstrap singleProcessOOMKill
        """,
        BOOL,
    ),
    (
        """
        address cgroupDriver cgroupRoot clusterDomain containerLogMaxSize containerRuntimeEndpoint contentType
        cpuManagerPolicy hairpinMode healthzBindAddress imageServiceEndpoint kubeletCgroups kubeReservedCgroup
        memoryManagerPolicy podCIDR podLogsDir providerID reservedSystemCPUs resolvConf showHiddenMetricsForVersion
        staticPodPath staticPodURL systemCgroups systemReservedCgroup tlsCertFile tlsMinVersion tlsPrivateKeyFile
        topologyManagerPolicy topologyManagerScope volumePluginDir
        """,
        STRING,
    ),
    (
        """
        containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS evictionMaxPodGracePeriod healthzPort
        imageGCHighThresholdPercent imageGCLowThresholdPercent iptablesDropBit iptablesMasqueradeBit kubeAPIBurst
        kubeAPIQPS maxParallelImagePulls maxPods nodeLeaseDurationSeconds nodeStatusMaxImages oomScoreAdj podsPerCore
        port readOnlyPort registryBurst registryPullQPS
        """,
        INT32,
    ),
    ("maxOpenFiles podPidsLimit", INT64),
    (
        """
        containerLogMonitorInterval cpuCFSQuotaPeriod cpuManagerReconcilePeriod evictionPressureTransitionPeriod
        fileCheckFrequency httpCheckFrequency imageMaximumGCAge imageMinimumGCAge nodeStatusReportFrequency
        nodeStatusUpdateFrequency runtimeRequestTimeout shutdownGracePeriod shutdownGracePeriodCriticalPods
        streamingConnectionIdleTimeout syncFrequency volumeStatsAggPeriod
        """,
        DURATION,
    ),
    (
        """
        allowedUnsafeSysctls clusterDNS enforceNodeAllocatable preloadedImagesVerificationAllowlist tlsCipherSuites
        """,
        STRINGS,
    ),
    (
        """
        cpuManagerPolicyOptions evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod kubeReserved
        qosReserved systemReserved topologyManagerPolicyOptions
        """,
        STRING_MAP,
    ),
    ("featureGates", BOOL_MAP),
    ("memoryThrottlingFactor", FLOAT),
    ("configMapAndSecretChangeDetectionStrategy", named_type("ResourceChangeDetectionStrategy")),
    ("imagePullCredentialsVerificationPolicy", named_type("ImagePullCredentialsVerificationPolicy")),
    ("staticPodURLHeader", Type("map[string][]string", STRINGS)),
    ("authentication", AUTHENTICATION),
    ("authorization", AUTHORIZATION),
    ("crashLoopBackOff", struct("v1beta1.CrashLoopBackOffConfig", ("maxContainerRestartPeriod", DURATION))),
    ("logging", LOGGING),
    ("memorySwap", struct("v1beta1.MemorySwapConfiguration", ("swapBehavior", STRING))),
    ("registerWithTaints", Type("[]v1.Taint", TAINT)),
    ("reservedMemory", Type("[]v1beta1.MemoryReservation", RESERVATION)),
    ("shutdownGracePeriodByPodPriority", Type("[]v1beta1.ShutdownGracePeriodByPodPriority", SHUTDOWN)),
    ("tracing", struct("v1.TracingConfiguration", ("endpoint", STRING), ("samplingRatePerMillion", INT32))),
    ("userNamespaces", struct("v1beta1.UserNamespaces", ("idsPerPod", INT64))),
)
"""The whole configuration, as all minors have it."""

LATER = {
    "tlsCurvePreferences": ("1.36", Type("[]int32", INT32)),
    "memoryReservationPolicy": ("1.36", named_type("MemoryReservationPolicy")),
    "defaultPodSysctls": ("1.37", STRING_MAP),
}
"""Fields that a later minor brought (k8s.io/kubelet v0.36.3 and v0.37.2 config/v1beta1/types.go)."""


@cache
def kubelet_of(minor: str) -> Type:
    """Return the configuration of a minor."""
    added = {name: kind for name, (first, kind) in LATER.items() if is_since(minor, first)}
    return replace(KUBELET, fields={**KUBELET.fields, **added})
