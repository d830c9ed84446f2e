"""ClusterPolicies side by side: fields that nobody reads are left out, and those that are missing have their default.

Facts: NVIDIA/gpu-operator v26.7.0 api/nvidia/v1/clusterpolicy_types.go, controllers/object_controls.go,
controllers/state_manager.go, assets.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from conftest import ROOT
from helm.drawn import Fields, read
from helm.renders import leaves
from trainyard.render.operators.gpu_values import SANDBOX, SECTIONS
from trainyard.upstream.apiserver import catalog
from trainyard.upstream.apiserver.schema import defaults

Path = tuple[str, ...]

CHART = "gpu-operator/26.7.0"
DEFAULTS = read((ROOT / "schemas/charts/gpu-operator/26.7.0.yaml").read_bytes())
CATALOG = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"gpu-operator": "26.7.0"})[0]
KIND = CATALOG.lookup("nvidia.com", "v1", "ClusterPolicy")

ENV = [{"name": "A", "value": "b"}]
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "ccManager.defaultMode": ("on", "off", "devtools"),
    "daemonsets.rollingUpdate.maxUnavailable": ("2", "30%", 1),
    "daemonsets.updateStrategy": ("RollingUpdate", "OnDelete"),
    "dcgmExporter.config": ({"name": "metrics", "create": True, "data": "a, gauge, b"}, {"name": "metrics"}),
    "dcgmExporter.hpcJobMapping": ({"enabled": True, "directory": "/var/lib/jobs"},),
    "dcgmExporter.podLabelAllowlistRegex": (["^app$"],),
    "dcgmExporter.service.internalTrafficPolicy": ("Cluster", "Local"),
    "devicePlugin.config": (
        {"name": "shares", "create": True, "data": {"any": "version: v1"}},
        {"name": "shares", "default": "any"},
        {"default": "any"},
    ),
    "driver.args": (["--verbose"],),
    "driver.kernelModuleType": ("auto", "open", "proprietary"),
    "driver.licensingConfig.configMapName": ("license",),
    "driver.livenessProbe": ({"periodSeconds": 30},),
    "driver.readinessProbe": ({"periodSeconds": 30},),
    "driver.upgradePolicy.drain.podSelector": ("app=a", ""),
    "driver.upgradePolicy.maxUnavailable": ("25%", 2, "50%"),
    "driver.upgradePolicy.waitForCompletion.podSelector": ("app=a", ""),
    "hostPaths.driverInstallDir": ("/run/nvidia/driver", "/opt/driver"),
    "hostPaths.kubeletRootDir": ("/data/kubelet", ""),
    "hostPaths.rootFS": ("/", "/host"),
    "kataManager.config": ({"artifactsDir": "/opt/kata"}, {}),
    "mig.strategy": ("none", "single", "mixed"),
    "migManager.config": ({"name": "layouts", "create": True, "data": {"config.yaml": "version: v1"}}, {"default": ""}),
    "operator.defaultGPUMode": ("container",),
    "operator.metrics": ({"serviceMonitor": {"interval": "15s", "honorLabels": True}}, {}),
    "operator.runtimeClass": ("nvidia", "other", ""),
    "sandboxWorkloads.defaultWorkload": ("container", "vm-passthrough", "vm-vgpu"),
    "sandboxWorkloads.mode": ("kubevirt", "kata"),
    "validator.cuda": ({"env": ENV}, {"env": []}),
    "validator.driver": ({"env": ENV},),
    "validator.toolkit": ({"env": ENV},),
    "validator.vfioPCI": ({"env": ENV},),
    "vgpuDeviceManager.config.default": ("default", "other"),
    "vgpuDeviceManager.config.name": ("profiles", ""),
}
WHOLE = ("dcgmExporter.config", "devicePlugin.config", "kataManager.config", "migManager.config")
OF_ITS_OWN = ("deployDefaultCR", "driverType", "nodeSelector")
FIELDS = Fields(
    DEFAULTS,
    [*(name for name in SECTIONS if name != "operator"), "operator.runtimeClass", "operator.use_ocp_driver_toolkit"],
    CHOICES,
    whole=frozenset(WHOLE),
    never=frozenset(f"driver.nvidiaDriverCRD.{name}" for name in OF_ITS_OWN),
)

MISSING: Mapping[Path, Any] = {
    ("dcgmExporter", "service", "internalTrafficPolicy"): "Cluster",
    ("driver", "startupProbe", "failureThreshold"): 120,
    ("driver", "startupProbe", "initialDelaySeconds"): 60,
    ("driver", "startupProbe", "periodSeconds"): 10,
    ("driver", "startupProbe", "timeoutSeconds"): 60,
    ("hostPaths", "driverInstallDir"): "/run/nvidia/driver",
    ("hostPaths", "kubeletRootDir"): "/var/lib/kubelet",
    ("hostPaths", "rootFS"): "/",
    ("operator", "runtimeClass"): "nvidia",
    ("sandboxWorkloads", "defaultWorkload"): "container",
    ("sandboxWorkloads", "mode"): "kubevirt",
    ("vgpuDeviceManager", "config", "default"): "default",
}
"""What the operator takes where a field is missing; a pull policy that is missing is IfNotPresent."""

OURS: Mapping[Path, str] = {
    ("daemonsets", "labels", "app.kubernetes.io/managed-by"): "daemons are no part of a release of Helm's",
    ("daemonsets", "labels", "helm.sh/chart"): "daemons are no part of a release of Helm's",
    ("dcgmExporter", "serviceMonitor", "enabled"): "without Prometheus' definitions there is no such object",
    ("driver", "upgradePolicy", "autoUpgrade"): "a person drains nodes for another driver",
    ("devicePlugin", "mps", "root"): "the chart has this value, and its template forgets it",
}
"""Fields that are ours on purpose, unless a cluster's file has them; the last one even then."""

FORGOTTEN = ("devicePlugin", "mps", "root")

OF_A_DRIVER = ("enabled", "hostNetwork", "upgradePolicy", "useNvidiaDriverCRD")
"""Fields of the driver that count where NVIDIADrivers have the others."""


def differences(theirs: Mapping[str, Any], ours: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields by which two specs are not the same to the operator."""
    pair = [served(spec) for spec in (theirs, ours)]
    pair = [{path: spec[path] for path in spec if not any(is_unread(path, either) for either in pair)} for spec in pair]
    given = leaves(copy.deepcopy(dict(values)))
    for path in sorted({*pair[0], *pair[1]}):
        wanted, found = (spec.get(path, False) for spec in pair)
        said = any(path[: len(key)] == key for key in given)
        if wanted != found and not (path in OURS and (path == FORGOTTEN or not said)):
            yield f"{'.'.join(path)} is {found!r}, and {wanted!r} by the chart"


def served(spec: Mapping[str, Any]) -> dict[Path, Any]:
    """Return the fields of a spec, with defaults of the definition and of the operator."""
    known = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "spec": without_null(spec)}
    found = leaves(defaults.apply(known, KIND)["spec"])
    images = {path[:-1] for path in found if path[-1] == "image"} | {(name,) for name in ENABLED}
    policies = {(*path, "imagePullPolicy"): "IfNotPresent" for path in images}
    return {**MISSING, **policies, **found}


def without_null(value: Any) -> Any:
    """Return a value without nulls, which the server drops."""
    if isinstance(value, Mapping):
        return {key: without_null(entry) for key, entry in value.items() if entry is not None}
    return value


def is_unread(path: Path, spec: Mapping[Path, Any]) -> bool:
    """Whether the operator does not read a field of such a spec."""
    section, *inside = path
    on = section not in ENABLED or spec.get((section, "enabled"), section in ON)
    if section in SANDBOX:
        return not spec.get(("sandboxWorkloads", "enabled")) or (inside != ["enabled"] and not on)
    if section == "driver" and spec.get(("driver", "useNvidiaDriverCRD")) and inside[0] not in OF_A_DRIVER:
        return True
    if path[:2] == ("driver", "licensingConfig"):
        return not {(*path[:2], name) for name in ("secretName", "configMapName")} & spec.keys()
    if path[:2] == ("driver", "upgradePolicy") and inside != ["upgradePolicy", "autoUpgrade"]:
        return not spec.get(("driver", "upgradePolicy", "autoUpgrade"))
    if path[:2] == ("dcgmExporter", "serviceMonitor") and inside != ["serviceMonitor", "enabled"]:
        return not spec.get((*path[:2], "enabled"))
    if path == ("devicePlugin", "config", "default"):
        return (*path[:2], "name") not in spec
    return inside != ["enabled"] and not on


ON = frozenset({"dcgmExporter", "devicePlugin", "driver", "gfd", "migManager", "toolkit"})
"""Sections that are on where `enabled` is missing."""

ENABLED = frozenset({*ON, *SANDBOX, "dcgm", "gdrcopy", "gds", "kataManager", "nodeStatusExporter"})
