"""Whether the driver on the nodes of each pool knows the pool's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.amd_gpu_operator import stated
from trainyard.render.operators.base import Site
from trainyard.render.operators.gpu_drivers import by_pool, modules, version
from trainyard.render.operators.install import sites
from trainyard.render.sizing.software import installs, nvidia_pools
from trainyard.specs import Cluster
from trainyard.specs.gpus import Generation, generation_of
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

OPERATOR = "gpu-operator"

FIELD = "gpuDriverVersion"

BRANCH = Rule(
    id="gpu-driver",
    title="The driver of NVIDIA or AMD on the nodes of a pool supports the pool's GPUs.",
    why="the driver does not load, so that no GPU is advertised and jobs stay pending until Kueue evicts them",
    fix="name a release of a branch that supports the GPUs: system: {gpuDriverVersion: ...} of the pool",
    source="CUDA 13.0 and ROCm 7.2.2 release notes; docs/reference/gpus.md",
    layer="pairing",
)
MODULES = Rule(
    id="gpu-driver-modules",
    title="The kernel modules of NVIDIA's driver support the pool's GPUs.",
    why="the modules do not load, so that no GPU is advertised",
    fix="give the pool a driver of its own: system: {gpuDriverVersion: ...}, and keep it off the fabric",
    source="NVIDIA/open-gpu-kernel-modules README.md; NVIDIA driver installation guide, kernel modules",
    layer="pairing",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose driver is too old or too new for their GPUs, or has kernel modules that do not support them.

    A release that supports the GPUs has its modules with it, so of a pool without one the release is the only finding.
    """
    for site in sites(cluster):
        if site.name == OPERATOR:
            for name, pool in nvidia_pools(cluster).items():
                gpus = generation_of(pool.node.gpus.product) if pool.node.gpus else None
                if gpus is not None:
                    wrong = list(check_branch(site, name, gpus, source))
                    yield from wrong or check_modules(site, name, gpus, source)
    yield from check_amd(cluster, source)


def check_amd(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a release of AMD's driver that is older than the GPUs of its pool, where the file names one."""
    for name, pool in cluster.pools.items():
        there = pool.node.gpus if is_known_shape(pool.shape) else None
        gpus = generation_of(there.product) if there is not None else None
        if gpus is None or gpus.first_amdgpu is None:
            continue
        release, first = stated(cluster, name).gpu_driver_version, gpus.first_amdgpu
        if release is None or order(release) >= order(first):
            continue
        message = (
            f"nodes of {name!r} have amdgpu {release}, but {gpus.called} needs {first} or newer; name such a release "
            "in system.gpuDriverVersion"
        )
        own = pool.system.gpu_driver_version is not None
        yield BRANCH.at(source, ("pools", name, "system", FIELD) if own else ("system", FIELD), message)


def check_branch(site: Site, pool: str, gpus: Generation, source: Source) -> Iterator[Finding]:
    """Yield a driver whose branch does not support the GPUs of a pool."""
    release = version(site, pool)
    number = re.match(r"[0-9]+", release or "")
    if release is None or number is None:
        return
    branch = int(number[0])
    if gpus.last_driver is not None and branch > gpus.last_driver:
        bound = f"{gpus.last_driver} or older"
    elif gpus.first_driver is not None and branch < gpus.first_driver:
        bound = f"{gpus.first_driver} or newer"
    else:
        return
    message = (
        f"nodes of {pool!r} have driver {release}, but {gpus.called} needs branch {bound}; name such a release in "
        "system.gpuDriverVersion of the pool"
    )
    yield BRANCH.at(source, place(site, pool), message)


def check_modules(site: Site, pool: str, gpus: Generation, source: Source) -> Iterator[Finding]:
    """Yield kernel modules that the operator would load for all pools, or for this one, and that do not support it."""
    if installs(site.cluster)[pool].driver != "operator" or not site.choice.managed:
        return
    pools = [pool] if by_pool(site.cluster) else list(nvidia_pools(site.cluster))
    kind = lookup(site.choice.values, "driver.kernelModuleType") or modules(site.cluster, pools)["kernelModuleType"]
    if kind == "auto" or kind in gpus.modules:
        return
    message = (
        f"nodes of {pool!r} get the {kind} kernel modules, but {gpus.called} needs the {gpus.modules[0]} ones; set "
        "gpuDriverVersion for this pool"
    )
    yield MODULES.at(source, ("pools", pool), message, key=True)


def place(site: Site, pool: str) -> Path:
    """Return the place that names the release of a pool's driver, else the pool's shape."""
    if site.cluster.pools[pool].system.gpu_driver_version is not None:
        return ("pools", pool, "system", FIELD)
    if site.cluster.system.gpu_driver_version is not None:
        return ("system", FIELD)
    if lookup(site.choice.values, "driver.version") is not None:
        return (*site.at, "values", "driver", "version")
    return ("pools", pool, "shape")
