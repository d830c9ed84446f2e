"""What the kubelet fills into its configuration (kubernetes v1.35.4 pkg/kubelet/apis/config/v1beta1/defaults.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.kubelet.releases import is_since

SECOND = 10**9
MINUTE = 60 * SECOND

EVICTION_HARD = {
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
"""Thresholds of a configuration that has none (kubernetes v1.35.4 pkg/kubelet/eviction/defaults_linux.go)."""

WHERE_UNSET = {
    "containerLogMaxFiles": 5,
    "containerLogMaxWorkers": 1,
    "containerLogMonitorInterval": 10 * SECOND,
    "cgroupsPerQOS": True,
    "cpuCFSQuotaPeriod": SECOND // 10,
    "enableSystemLogHandler": True,
    "enforceNodeAllocatable": ["pods"],
    "eventRecordQPS": 50,
    "healthzPort": 10248,
    "imageGCHighThresholdPercent": 85,
    "imageGCLowThresholdPercent": 80,
    "iptablesDropBit": 15,
    "iptablesMasqueradeBit": 14,
    "kubeAPIQPS": 50,
    "memoryThrottlingFactor": 0.9,
    "nodeStatusMaxImages": 50,
    "oomScoreAdj": -999,
    "registryPullQPS": 5,
}
"""Defaults of fields that may also say zero."""

WHERE_ZERO = {
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "cpuManagerPolicy": "none",
    "eventBurst": 100,
    "hairpinMode": "promiscuous-bridge",
    "imageMinimumGCAge": 2 * MINUTE,
    "kubeAPIBurst": 100,
    "maxOpenFiles": 1_000_000,
    "maxPods": 110,
    "memoryManagerPolicy": "None",
    "nodeLeaseDurationSeconds": 40,
    "podLogsDir": "/var/log/pods",
    "port": 10250,
    "registryBurst": 10,
    "topologyManagerPolicy": "none",
    "topologyManagerScope": "container",
}
"""Defaults of fields in which zero, or an empty text, is as good as nothing."""

ZERO: dict[str, Any] = {
    **dict.fromkeys(("cgroupRoot", "kubeReservedCgroup", "reservedSystemCPUs", "systemCgroups"), ""),
    **dict.fromkeys(("showHiddenMetricsForVersion", "systemReservedCgroup"), ""),
    **dict.fromkeys(("imageMaximumGCAge", "podsPerCore", "readOnlyPort"), 0),
    **dict.fromkeys(("shutdownGracePeriod", "shutdownGracePeriodCriticalPods"), 0),
    **dict.fromkeys(("enableSystemLogQuery", "runOnce", "serverTLSBootstrap"), False),
}
"""What an unset field is where it has no default."""


def add_defaults(value: Mapping[str, Any], minor: str) -> dict[str, Any]:
    """Return a decoded configuration with a minor's defaults of the fields that decide whether the kubelet starts."""
    out = {**ZERO, **WHERE_UNSET, **value}
    if "memoryThrottlingFactor" not in value and is_since(minor, "1.37"):
        del out["memoryThrottlingFactor"]
    for name, default in WHERE_ZERO.items():
        out[name] = value.get(name) or default
    parallel = value.get("maxParallelImagePulls")
    out.setdefault("serializeImagePulls", parallel is None or parallel < 2)
    out["evictionHard"] = _thresholds(value)
    return out


def _thresholds(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the hard thresholds: those written replace all defaults, unless the configuration merges them."""
    own = value.get("evictionHard")
    if own is None:
        return EVICTION_HARD
    return {**EVICTION_HARD, **own} if value.get("mergeDefaultEvictionSettings") else dict(own)
