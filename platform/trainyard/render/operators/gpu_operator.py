"""NVIDIA GPU Operator: the chart without its ClusterPolicy, and the ClusterPolicy as a hardware change of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, ClassVar

from trainyard.render.operators import gpu_conflicts, gpu_drivers, gpu_parts, gpu_values
from trainyard.render.operators.base import Conflict, Operator, Site, merge
from trainyard.render.parts.health import by_field
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.software import cluster_install, nvidia_pools

POLICY = "cluster-policy"
"""Name that the chart gives it; the operator takes one ClusterPolicy and ignores every other."""

IMAGES = {
    "validator": "validator",
    "driver": "driver",
    "driver.manager": "driverManager",
    "toolkit": "toolkit",
    "devicePlugin": "devicePlugin",
    "gfd": "gfd",
    "dcgmExporter": "dcgmExporter",
    "migManager": "migManager",
}
"""Sections of the ClusterPolicy whose images must be named in it, and the components of the release file."""

OPTIONAL = (
    "ccManager",
    "dcgm",
    "gdrcopy",
    "gds",
    "kataSandboxDevicePlugin",
    "nodeStatusExporter",
    "sandboxDevicePlugin",
    "vfioManager",
    "vgpuDeviceManager",
)
"""Sections that are off by default; where a cluster's file has one, its image must be named too.

The operator looks for it in the ClusterPolicy, and in an environment that the chart does not set (NVIDIA/gpu-operator
v26.7.0 internal/image/image.go).
"""

BY_MANAGER = ("vfioManager", "vgpuManager")
"""Sections with a manager of drivers of their own."""

HEALTH = by_field("state", waiting="Waiting for the operator", healthy="ready", degraded="ignored")


class GpuOperator(Operator):
    """The chart installs the operator; what it does to nodes stands in `hardware/` and is synced by hand."""

    name = "gpu-operator"
    health: ClassVar[Mapping[str, str]] = {"nvidia.com/ClusterPolicy": HEALTH}

    def values(self, site: Site) -> dict[str, Any]:
        """Leave the ClusterPolicy to us, and the definitions to Argo CD, which renders them with the chart."""
        tolerations = gpu_drivers.tolerate(nvidia_pools(site.cluster).values())
        return {
            "clusterPolicy": {"deployCR": False},
            "operator": {"upgradeCRD": False},
            "node-feature-discovery": {"worker": {"tolerations": [*CONTROL_PLANE, *tolerations]}},
        }

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that do not go with the ClusterPolicy and the NVIDIADrivers."""
        yield from gpu_conflicts.conflicts(site)

    def hardware(self, site: Site) -> Iterator[Resource]:
        """Yield the ClusterPolicy and its configurations: a new driver or layout takes GPUs from under running jobs."""
        yield from gpu_parts.configurations(site)
        yield from gpu_drivers.drivers(site)
        spec = policy(site)
        yield Resource("nvidia.com/v1", "ClusterPolicy", POLICY, site.at, fields={"spec": spec})


CONTROL_PLANE: list[dict[str, Any]] = [
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Equal", "value": "", "effect": "NoSchedule"}
]


def policy(site: Site) -> dict[str, Any]:
    """Return the spec of the ClusterPolicy: what the release needs, what follows from the cluster, and its file's own.

    Drivers are not upgraded by the operator alone: a node gets the new one when a person drains it. With an RDMA
    fabric the kernel modules are the open ones, which GPUDirect over DMA-BUF needs; the older nvidia-peermem is loaded
    only where the vendor's driver of NICs is, which it needs: on the host, or by the network operator. What the
    distribution of the nodes brings is not installed twice.
    """
    cluster = site.cluster
    base: dict[str, Any] = {
        "operator": {"runtimeClass": "nvidia"},
        "daemonsets": {
            "priorityClassName": "system-node-critical",
            "tolerations": gpu_drivers.tolerate(nvidia_pools(cluster).values()),
            "updateStrategy": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "1"},
        },
        "mig": {"strategy": gpu_parts.strategy(cluster)},
        "cdi": {"enabled": True},
        "driver": {
            **gpu_drivers.modules(cluster, nvidia_pools(cluster)),
            "upgradePolicy": {"autoUpgrade": False},
            **({"useNvidiaDriverCRD": True} if gpu_drivers.by_pool(cluster) else {}),
        },
        "devicePlugin": gpu_parts.of_plugin(cluster),
        "dcgm": {"enabled": False},
        "dcgmExporter": {
            "enabled": True,
            "serviceMonitor": {"enabled": False},
            **gpu_parts.of_exporter(cluster),
        },
        "gfd": {"enabled": True},
        "migManager": {"enabled": True, **gpu_parts.of_manager(cluster)},
        "nodeStatusExporter": {"enabled": False},
        "validator": {},
        "sandboxWorkloads": {"enabled": False},
    }
    said = site.choice.values
    defaults, own = gpu_values.completions(said), gpu_values.cluster_policy(said)
    stated = cluster.system.gpu_driver_version is not None
    chosen = {"driver": {"version": gpu_drivers.shared_version(site)}} if stated else {}
    layers: list[Mapping[str, Any]] = [cluster_install(cluster).values, images(site), defaults, own, chosen]
    spec = gpu_values.drop_void(reduce(merge, layers, base))
    return gpu_values.leave_driver(spec) if gpu_drivers.by_pool(cluster) else spec


def images(site: Site) -> dict[str, Any]:
    """Return repository, image and version of every component, as the release's chart would write them."""
    found: dict[str, Any] = {}
    values = site.choice.values
    sandbox = gpu_values.SANDBOX if "sandboxWorkloads" in values else ()
    wanted = {name: name for name in OPTIONAL if name in values or name in sandbox}
    managers = {f"{name}.driverManager": "driverManager" for name in BY_MANAGER if name in values or name in sandbox}
    for path, component in {**IMAGES, **wanted, **managers}.items():
        image = site.components.get(component)
        if isinstance(image, dict):
            section, _, part = path.partition(".")
            block = {**image, "imagePullPolicy": "IfNotPresent"}
            found = merge(found, {section: {part: block} if part else block})
    return found


OPERATOR = GpuOperator()
