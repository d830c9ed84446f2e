"""Prerequisites of GPUs: drivers, toolkit and device plugins that the node's image or somebody else brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.render.clusters.software import hardware
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.base import Prerequisite, Site, of_pools
from trainyard.render.prerequisites.nodes import in_words
from trainyard.render.prerequisites.questions import GpuDriver, NodeOffers
from trainyard.render.sizing.gpus import per_node
from trainyard.render.sizing.nvlink import DRIVER, spans
from trainyard.render.sizing.software import (
    GPU_OPERATOR,
    Part,
    installed_parts,
    installs,
    nvidia_pools,
    refusal,
)
from trainyard.specs import Pool
from trainyard.specs.gpus import generation_of
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape

NVIDIA_DRIVER = "nvidia.com/cuda.driver-version.full"
"""Label of GPU feature discovery (NVIDIA/k8s-device-plugin v0.20.0 docs/gpu-feature-discovery/README.md)."""

IMEX = "nvidia-imex.service"

IN_A_POD = "`nvidia-smi`, in a pod with a GPU, prints the release"

SWITCHED = re.compile(r"[dh]gx-(?!1-|v)")
"""Presets of one's own machines whose GPUs hang on NVSwitches: DGX and HGX from A100 on."""

AMD_DRIVER = "amd.com/gpu.driver-version"
"""Label of AMD's node labeller (ROCm/k8s-device-plugin cmd/k8s-node-labeller)."""


def nvidia(site: Site) -> Iterator[Prerequisite]:
    """Yield driver, container toolkit and device plugin of pools with NVIDIA GPUs, where the operator brings none."""
    cluster = site.cluster
    ours = any(operator.name == GPU_OPERATOR for operator, _ in installed_operators(cluster))
    for name, pool in nvidia_pools(cluster).items():
        parts = installed_parts(cluster, name)
        if not ours or "driver" not in parts:
            yield nvidia_driver(site, name, pool)
        if "toolkit" not in parts:
            facts = cluster.distribution_of(name).gpus
            yield Prerequisite(
                f"{of_pools([name])} have NVIDIA's container toolkit, and their container runtime uses it",
                "without it no container sees a GPU",
                called_for(site, name, "toolkit"),
                getting(site, name, "toolkit", facts.get_toolkit),
                look=facts.look_toolkit,
            )
        if not ours or "devicePlugin" not in parts:
            who = "NVIDIA's device plugin, or the GPU Operator of whoever installs it"
            get = getting(site, name, "devicePlugin", f"install {who}")
            yield offered(name, pool, get, called_for(site, name, "devicePlugin"))


def switched_off(site: Site, part: Part) -> bool:
    """Whether values of the GPU Operator switch off what it would install."""
    choice = site.cluster.operators.get(GPU_OPERATOR)
    return choice is not None and lookup(choice.values, f"{part}.enabled") is False


def called_for(site: Site, name: str, part: Part) -> Path:
    """Return the field that leaves a part of NVIDIA's software to somebody else: values of the operator, or the pool.

    A release of the driver is the pool's own, or the cluster's.
    """
    if switched_off(site, part):
        return ("operators", GPU_OPERATOR, "values", part, "enabled")
    if part == "driver" and site.cluster.pools[name].system.gpu_driver_version:
        return ("pools", name, "system", "gpuDriverVersion")
    if part == "driver" and site.cluster.system_of(name).gpu_driver_version:
        return ("system", "gpuDriverVersion")
    return ("pools", name, "shape")


def getting(site: Site, name: str, part: Part, image: str) -> str:
    """Return how nodes of a pool get a part of NVIDIA's software: by whose operator, or as their image gets it."""
    cluster = site.cluster
    if part in installed_parts(cluster, name):
        excluded = refusal(cluster.distribution, GPU_OPERATOR)
        own = f"; {excluded.get}" if excluded is not None and excluded.get else ""
        return f"the GPU Operator that somebody else installs brings it{own}"
    if switched_off(site, part) and installs(cluster)[name].values[part]["enabled"]:
        return f"{image}; or remove `{part}.enabled: false`, and the GPU Operator installs it"
    return image


def driver_text(site: Site, name: str) -> str:
    """Return how nodes get a driver that their image or the provider brings, with the GPU Operator or without it."""
    gpus = site.cluster.distribution_of(name).gpus
    alone = gpus.get_driver_alone if "devicePlugin" in installed_parts(site.cluster, name) else None
    return alone or gpus.get_driver


def fabric_managers(site: Site) -> Iterator[Prerequisite]:
    """Yield NVIDIA's Fabric Manager of nodes that bring their driver, where GPUs of a node hang on NVSwitches.

    NVIDIA Fabric Manager user guide: without it CUDA does not start on HGX and DGX from A100 on. The operator's driver
    starts it by itself (NVIDIA/gpu-driver-container, nvidia-driver).
    """
    cluster = site.cluster
    for name, pool in nvidia_pools(cluster).items():
        if cluster.distribution_of(name).provider is not None or "driver" in installed_parts(cluster, name):
            continue
        if not isinstance(pool.shape, str) or not SWITCHED.match(pool.shape):
            continue
        yield Prerequisite(
            f"{of_pools([name])} run NVIDIA's Fabric Manager, of the driver's release",
            "their GPUs are connected by NVSwitches; CUDA does not start without it",
            ("pools", name, "shape"),
            cluster.distribution_of(name).gpus.get_fabric_manager,
            look="`nvidia-smi -q`, in a pod with a GPU, prints Fabric State: Completed",
        )


def channels(site: Site) -> Iterator[Prerequisite]:
    """Yield the packages that ComputeDomains need beside a driver in the node's image.

    NVIDIA/cloud-native-docs gpu-operator/dra-intro-install.rst, prerequisites.
    """
    cluster = site.cluster
    for name in (name for name, pool in cluster.pools.items() if spans(cluster, pool)):
        if "driver" in installed_parts(cluster, name):
            continue
        yield Prerequisite(
            f"{of_pools([name])} have the `nvidia-imex-*` packages of their driver, with `{IMEX}` masked",
            "the DRA driver starts IMEX for each run itself; pods get no NVLink channel otherwise",
            ("operators", DRIVER),
            f"`systemctl disable --now {IMEX} && systemctl mask {IMEX}`, in the node's image",
            look=f"`systemctl is-enabled {IMEX}` prints masked, on a node",
        )


def nvidia_driver(site: Site, name: str, pool: Pool) -> Prerequisite:
    """Return the driver of a pool: the release that the file names, else the branches that know its GPUs."""
    system, gpus = site.cluster.system_of(name), site.cluster.distribution_of(name).gpus
    generation = generation_of(pool.node.gpus.product) if pool.node.gpus else None
    least = generation.first_driver if generation else None
    most = generation.last_driver if generation else None
    exact = system.gpu_driver_version
    bounds = [f"branch {least} or newer" if least else "", f"branch {most} at most" if most else ""]
    which = exact or ", ".join(bound for bound in bounds if bound) or "any release"
    return Prerequisite(
        f"{of_pools([name])} have NVIDIA's driver, {which}",
        f"only these releases drive {generation.called}"
        if generation and not exact
        else "without it there are no GPUs",
        called_for(site, name, "driver"),
        getting(site, name, "driver", driver_text(site, name)),
        GpuDriver(name, NVIDIA_DRIVER, least, most, exact),
        look=IN_A_POD if "driver" in installed_parts(site.cluster, name) else gpus.look,
    )


def offered(name: str, pool: Pool, get: str, at: Path) -> Prerequisite:
    """Return the devices that a plugin of somebody else's advertises on the nodes of a pool."""
    devices = {resource: Fraction(count) for resource, count in per_node(pool).items()}
    return Prerequisite(
        f"{of_pools([name])} offer `{in_words(devices)}`",
        "pods of the pool request these devices, and stay pending without them",
        at,
        get,
        NodeOffers(name, devices),
    )


def amd(site: Site) -> Iterator[Prerequisite]:
    """Yield driver, device plugin and access to device files of pools with AMD GPUs."""
    cluster = site.cluster
    configured = {
        resource.name: bool(resource.fields["spec"]["driver"].get("enable"))
        for resource in hardware(cluster)
        if resource.kind == "DeviceConfig"
    }
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape) or pool.node.gpus is None or pool.node.gpus.vendor != "amd":
            continue
        if not configured.get(name):
            yield Prerequisite(
                f"{of_pools([name])} have AMD's driver amdgpu",
                "AMD's operator leaves it to the node's image; without it there are no GPUs",
                ("pools", name, "shape"),
                cluster.distribution_of(name).gpus.get_amdgpu,
                GpuDriver(name, AMD_DRIVER),
                look="`cat /sys/module/amdgpu/version`, on a node",
            )
        if name not in configured:
            yield offered(name, pool, "install AMD's device plugin, or its GPU Operator", ("pools", name, "shape"))
        if pool.device_access is not None and pool.device_access != "udev":
            yield device_files(name, pool)


def device_files(name: str, pool: Pool) -> Prerequisite:
    """Return who may open the device files of the GPUs on a pool's nodes."""
    groups = " and ".join(str(group) for group in pool.device_groups)
    return Prerequisite(
        f"on {of_pools([name])} "
        + (f"groups {groups} own `/dev/kfd` and `/dev/dri/renderD*`" if groups else "every user may open `/dev/kfd`"),
        "pods are not root, and open no GPU otherwise",
        ("pools", name, "deviceAccess"),
        "set it by udev in the node's image, or write `deviceAccess: udev`",
        look="`ls -ln /dev/kfd /dev/dri`, on a node",
    )
