"""Numbers, times and limits of a configuration that are out of range."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.quantities import duration_text
from trainyard.upstream.kubelet.configuration.defaults import SECOND
from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.configuration.words import check_range, negative, quote
from trainyard.upstream.kubelet.releases import is_since

PORTS = (1, 65535)
PERCENT = (0, 100)
BITS = (0, 31)


def check_limits(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield numbers out of their range, up to the limits of pulling images."""
    if c["nodeLeaseDurationSeconds"] <= 0:
        yield "nodeLeaseDurationSeconds must be greater than 0"
    if c["systemCgroups"] and not c["cgroupRoot"]:
        yield "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified"
    yield from negative(c, "eventBurst", "event-burst")
    yield from negative(c, "eventRecordQPS", "event-qps")
    if c["healthzPort"]:
        yield from check_range(c, "healthzPort", "healthz-port", PORTS)
    yield from check_quota_period(c, gates)
    yield from check_images(c)
    yield from check_range(c, "iptablesDropBit", "iptables-drop-bit", BITS)
    yield from check_range(c, "iptablesMasqueradeBit", "iptables-masquerade-bit", BITS)
    yield from negative(c, "kubeAPIBurst", "kube-api-burst")
    yield from negative(c, "kubeAPIQPS", "kube-api-qps")
    if c["nodeStatusMaxImages"] < -1:
        yield f"nodeStatusMaxImages (--node-status-max-images) {c['nodeStatusMaxImages']} must be -1 or greater"
    yield from negative(c, "maxOpenFiles", "max-open-files")
    yield from negative(c, "maxPods", "max-pods")
    yield from check_range(c, "oomScoreAdj", "oom-score-adj", (-1000, 1000))
    yield from negative(c, "podsPerCore", "pods-per-core")
    yield from check_range(c, "port", "port", PORTS)
    if c["readOnlyPort"]:
        yield from check_range(c, "readOnlyPort", "read-only-port", PORTS, said=(0, 65535))
    yield from negative(c, "registryBurst", "registry-burst")
    yield from negative(c, "registryPullQPS", "registry-qps")


def check_quota_period(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield a period of CPU quotas that needs its gate, or that no kernel takes."""
    period, gate = c["cpuCFSQuotaPeriod"], "CustomCPUCFSQuotaPeriod"
    said = f"cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {{{duration_text(period)}}}"
    if not gates.on(gate) and period != SECOND // 10:
        yield f"{said} requires feature gate {gate}"
    if gates.on(gate) and not SECOND // 1000 <= period <= SECOND:
        yield f"{said} must be between 1ms and 1sec, inclusive"


def check_images(c: Mapping[str, Any]) -> Iterator[str]:
    """Yield thresholds and ages at which images are deleted."""
    high, low = c["imageGCHighThresholdPercent"], c["imageGCLowThresholdPercent"]
    yield from check_range(c, "imageGCHighThresholdPercent", "image-gc-high-threshold", PERCENT)
    yield from check_range(c, "imageGCLowThresholdPercent", "image-gc-low-threshold", PERCENT)
    if low >= high:
        yield (
            f"imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than "
            f"imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
        )
    oldest, youngest = c["imageMaximumGCAge"], c["imageMinimumGCAge"]
    if oldest < 0:
        yield f"imageMaximumGCAge {duration_text(oldest)} must not be negative"
    if 0 < oldest <= youngest:
        said = f"must be greater than imageMinimumGCAge {duration_text(youngest)}"
        yield f"imageMaximumGCAge {duration_text(oldest)} {said}"


def check_pulls(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield how many images are pulled at one time, and what asks for a gate or is gone."""
    parallel = c.get("maxParallelImagePulls")
    if parallel is not None and parallel < 1:
        yield f"maxParallelImagePulls {parallel} must be a positive number"
    if c["serializeImagePulls"] and parallel is not None and parallel > 1:
        yield (
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) "
            "is set to false"
        )
    if c["serverTLSBootstrap"] and not gates.on("RotateKubeletServerCertificate"):
        yield "serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate"
    if c["runOnce"]:
        yield "runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set"


def check_throttling(c: Mapping[str, Any], _gates: Gates) -> Iterator[str]:
    """Yield throttling of memory that is out of range."""
    factor = c.get("memoryThrottlingFactor")
    if factor is not None and not 0 < factor <= 1:
        yield f"memoryThrottlingFactor {factor:g} must be greater than 0 and less than or equal to 1.0"


def check_logs(c: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    """Yield settings of the logs of containers that are out of range."""
    if c["enableSystemLogQuery"] and not gates.on("NodeLogQuery"):
        field = "enableSystemLogQuery" if is_since(gates.minor, "1.35") else "enableSystemLogHandler"
        yield f"NodeLogQuery feature gate is required for {field}"
    if c["enableSystemLogQuery"] and not c["enableSystemLogHandler"]:
        yield "enableSystemLogHandler is required for enableSystemLogQuery"
    if c["containerLogMaxWorkers"] < 1:
        yield "containerLogMaxWorkers must be greater than or equal to 1"
    if c["containerLogMonitorInterval"] < 3 * SECOND:
        yield "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s"
    if c["containerLogMaxFiles"] <= 1:
        yield "containerLogMaxFiles must be greater than 1"
    folder = c["podLogsDir"]
    if not folder.startswith("/"):
        yield f"pod logs path {quote(folder)} must be absolute path"
    if posixpath.normpath(folder) != folder:
        yield f"pod logs path {quote(folder)} must be normalized"
    if not folder.isascii():
        yield f"pod logs path {quote(folder)} mut contains ASCII characters only"
