"""Prerequisites of GPUs: drivers, toolkit and device plugins that the node's image or somebody else brings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.render.clusters.software import hardware
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.base import Prerequisite, Site, of_pools
from trainyard.render.prerequisites.nodes import in_words
from trainyard.render.prerequisites.questions import GpuDriver, NodeOffers
from trainyard.render.sizing import gpus
from trainyard.render.sizing.nvlink import DRIVER, spans
from trainyard.render.sizing.software import installs
from trainyard.specs import Pool
from trainyard.specs.gpus import generation_of
from trainyard.specs.shapes import is_known_shape

NVIDIA_DRIVER = "nvidia.com/cuda.driver-version.full"
"""Label of GPU feature discovery (NVIDIA/k8s-device-plugin v0.20.0 docs/gpu-feature-discovery/README.md)."""

IMEX = "nvidia-imex.service"

AMD_DRIVER = "amd.com/gpu.driver-version"
"""Label of AMD's node labeller (ROCm/k8s-device-plugin cmd/k8s-node-labeller)."""


def nvidia(site: Site) -> Iterator[Prerequisite]:
    """Yield driver, container toolkit and device plugin of pools with NVIDIA GPUs, where the operator brings none."""
    cluster = site.cluster
    ours = any(operator.name == "gpu-operator" for operator, _ in installed_operators(cluster))
    there = "gpu-operator" in cluster.operators
    for name, install in installs(cluster).items():
        pool = cluster.pools[name]
        plugin = install.values["devicePlugin"]["enabled"]
        if not there or install.driver == "system" or not ours:
            yield nvidia_driver(site, name, pool)
        if install.toolkit == "system" or not there:
            yield Prerequisite(
                f"{of_pools([name])} have NVIDIA's container toolkit, and their container runtime uses it",
                "without it no container sees a GPU",
                ("pools", name, "shape"),
                "choose an image for the nodes that brings it",
                look="`nvidia-ctk --version`, on a node",
            )
        if not (ours and plugin):
            yield offered(name, pool, "NVIDIA's device plugin, or the GPU Operator of whoever installs it")


def channels(site: Site) -> Iterator[Prerequisite]:
    """Yield the packages that ComputeDomains need beside a driver in the node's image.

    NVIDIA/cloud-native-docs gpu-operator/dra-intro-install.rst, prerequisites.
    """
    cluster = site.cluster
    for name in (name for name, pool in cluster.pools.items() if spans(cluster, pool)):
        if "gpu-operator" in cluster.operators and installs(cluster)[name].driver == "operator":
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
    system = site.cluster.system_of(name)
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
        ("pools", name, "system", "gpuDriverVersion") if exact else ("pools", name, "shape"),
        "choose an image for the nodes that brings it",
        GpuDriver(name, NVIDIA_DRIVER, least, most, exact),
        look="`nvidia-smi --query-gpu=driver_version --format=csv,noheader`, on a node",
    )


def offered(name: str, pool: Pool, who: str) -> Prerequisite:
    """Return the devices that a plugin of somebody else's advertises on the nodes of a pool."""
    devices = {resource: Fraction(count) for resource, count in gpus.per_node(pool).items()}
    return Prerequisite(
        f"{of_pools([name])} offer `{in_words(devices)}`",
        "pods of the pool request these devices, and stay pending without them",
        ("pools", name, "shape"),
        f"install {who}",
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
                "install amdgpu-dkms in the node's image (ROCm documentation, installation by the package manager)",
                GpuDriver(name, AMD_DRIVER),
                look="`cat /sys/module/amdgpu/version`, on a node",
            )
        if name not in configured:
            yield offered(name, pool, "AMD's device plugin, or its GPU Operator")
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
