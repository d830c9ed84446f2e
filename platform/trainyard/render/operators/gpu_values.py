"""Values of the GPU Operator's chart as fields of the ClusterPolicy, which we write in the chart's place.

Source: NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/templates/clusterpolicy.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.render.operators.base import complete_sections, merge, nest_value
from trainyard.specs.releases.facts import lookup

SECTIONS = (
    "hostPaths",
    "operator",
    "daemonsets",
    "validator",
    "mig",
    "psa",
    "cdi",
    "driver",
    "vgpuManager",
    "kataManager",
    "vfioManager",
    "vgpuDeviceManager",
    "ccManager",
    "toolkit",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "migManager",
    "nodeStatusExporter",
    "gds",
    "gdrcopy",
    "sandboxWorkloads",
    "sandboxDevicePlugin",
    "kataSandboxDevicePlugin",
)
"""Values that the template writes into the ClusterPolicy under the same name."""

RENAMED = {
    "driver.nvidiaDriverCRD.enabled": "driver.useNvidiaDriverCRD",
    "driver.upgradePolicy.gpuPodDeletion": "driver.upgradePolicy.podDeletion",
}
"""Values with another name in the ClusterPolicy."""

OF_THE_CHART = (
    "driver.nvidiaDriverCRD",
    "driver.upgradePolicy.gpuPodDeletion",
    "devicePlugin.config.create",
    "devicePlugin.config.data",
    "dcgmExporter.config.create",
    "dcgmExporter.config.data",
    "migManager.config.create",
    "migManager.config.data",
)
"""Values that the chart itself uses, for objects beside the ClusterPolicy."""

SANDBOX = (
    "ccManager",
    "kataSandboxDevicePlugin",
    "sandboxDevicePlugin",
    "vfioManager",
    "vgpuDeviceManager",
    "vgpuManager",
)
"""Sections that the operator reads only where `sandboxWorkloads` is on (v26.7.0 controllers/state_manager.go)."""

COMPLETIONS: Mapping[str, Mapping[str, Any]] = {
    "ccManager": {"enabled": True, "defaultMode": "on"},
    "dcgmExporter.serviceMonitor": {"interval": "15s", "scrapeTimeout": "10s"},
    "driver.licensingConfig": {"nlsEnabled": True},
    "driver.upgradePolicy": {
        "drain": {"enable": False, "timeoutSeconds": 300},
        "podDeletion": {"force": False, "timeoutSeconds": 300},
        "waitForCompletion": {"timeoutSeconds": 0},
    },
    "kataSandboxDevicePlugin": {"enabled": True},
    "sandboxDevicePlugin": {"enabled": True},
    "vfioManager": {"enabled": True},
    "vgpuDeviceManager": {"enabled": True},
    "vgpuManager": {"image": "vgpu-manager"},
}
"""Defaults of the chart that are not the operator's: they complete a section of which a cluster's file has a part.

Without `podDeletion` an upgrade of the driver stops at its first node (v26.7.0 vendor/github.com/NVIDIA/
k8s-operator-libs/pkg/upgrade/pod_manager.go); sections that no file begins are of no effect, or our own.
"""

NODES_AT_A_TIME = "daemonsets.rollingUpdate.maxUnavailable"
"""Text in the ClusterPolicy, which the template quotes."""

UNSET = "migManager.config.default"
"""The one field that means something when it is empty: nodes without a label stay as they are."""

OPERATOR = ("runtimeClass", "defaultGPUMode", "use_ocp_driver_toolkit", "metrics")
"""Values of `operator` that the ClusterPolicy has; all others are of the operator's own Deployment."""


def cluster_policy(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the ClusterPolicy that follow from the chart's values of a cluster's file."""
    found = {name: value for name, value in values.items() if name in SECTIONS}
    if isinstance(found.get("operator"), Mapping):
        found["operator"] = {key: value for key, value in found["operator"].items() if key in OPERATOR}
    moved: dict[str, Any] = {}
    count = lookup(found, NODES_AT_A_TIME)
    if isinstance(count, int) and not isinstance(count, bool):
        moved = nest_value(NODES_AT_A_TIME, str(count))
    for path, target in RENAMED.items():
        value = lookup(found, path)
        if value is not None:
            moved = merge(moved, nest_value(target, value))
    for path in OF_THE_CHART:
        found = drop_path(found, path.split("."))
    return merge({name: value for name, value in found.items() if value != {}}, moved)


CLUSTER_WIDE = ("enabled", "version", "nvidiaDriverCRD")
"""Values of `driver` that are of all pools, or are no field of an NVIDIADriver."""

OF_AN_IMAGE = ("image", "imagePullPolicy", "manager", "repository", "version")
"""Fields of the driver that a ClusterPolicy leaves to NVIDIADrivers, which alone the operator reads then."""

OF_A_DRIVER = {
    "upgradePolicy.gpuPodDeletion": "upgradePolicy.podDeletion",
    "repoConfig.configMapName": "repoConfig.name",
    "licensingConfig.configMapName": "licensingConfig.name",
    "virtualTopology.config": "virtualTopologyConfig.name",
}
"""Values of `driver` with another name in an NVIDIADriver (deployments/gpu-operator/templates/nvidiadriver.yaml)."""


def nvidia_driver(values: Any) -> dict[str, Any]:
    """Return the fields of an NVIDIADriver that follow from the chart's values of the driver."""
    found = {key: value for key, value in values.items() if key not in CLUSTER_WIDE} if isinstance(values, dict) else {}
    moved: dict[str, Any] = {}
    for path, target in OF_A_DRIVER.items():
        value = lookup(found, path)
        if value not in (None, ""):
            moved = merge(moved, nest_value(target, value))
        found = drop_path(found, path.split("."))
    return merge({name: value for name, value in found.items() if value != {}}, moved)


def leave_driver(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a ClusterPolicy without the release of the driver, which NVIDIADrivers name by pool."""
    for name in OF_AN_IMAGE:
        spec = drop_path(spec, ["driver", name])
    return dict(spec)


def completions(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chart's defaults for sections of which a cluster's file has a part."""
    sandbox: dict[str, Any] = {name: {} for name in SANDBOX} if "sandboxWorkloads" in values else {}
    return complete_sections({**sandbox, **values}, COMPLETIONS)


def drop_void(spec: Mapping[str, Any], *inside: str) -> dict[str, Any]:
    """Return a spec without fields that are empty: the template leaves them out, so that defaults hold.

    Sections themselves stay, since the definition has defaults for fields of those that are there.
    """
    found: dict[str, Any] = {}
    for key, value in spec.items():
        path = (*inside, key)
        kept = drop_void(value, *path) if isinstance(value, Mapping) else value
        section = not inside and isinstance(kept, Mapping)
        if kept or section or isinstance(kept, (bool, int)) or (kept == "" and ".".join(path) == UNSET):
            found[key] = kept
    return found


def drop_path(values: Mapping[str, Any], path: list[str]) -> dict[str, Any]:
    """Return values without the one at a path."""
    first, *rest = path
    if not rest:
        return {key: value for key, value in values.items() if key != first}
    inner = values.get(first)
    return {**values, first: drop_path(inner, rest)} if isinstance(inner, Mapping) else dict(values)
