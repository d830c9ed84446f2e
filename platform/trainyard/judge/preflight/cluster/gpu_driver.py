"""Whether NVIDIA's driver on the nodes of each pool knows the pool's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.base import Site
from trainyard.render.operators.gpu_drivers import by_pool, modules, version
from trainyard.render.operators.install import sites
from trainyard.render.sizing.software import installs, nvidia_pools
from trainyard.specs import Cluster
from trainyard.specs.gpus import Generation, generation_of
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Source

OPERATOR = "gpu-operator"

BRANCH = Rule(
    id="gpu-driver",
    title="NVIDIA's driver on the nodes of a pool supports the pool's GPUs.",
    why="the driver does not load, so that no GPU is advertised and jobs stay pending until Kueue evicts them",
    fix="name a release of a branch that supports the GPUs: system: {gpuDriverVersion: ...} of the pool",
    source="CUDA 13.0 release notes, deprecated architectures; docs/reference/gpus.md",
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
        return ("pools", pool, "system", "gpuDriverVersion")
    if site.cluster.system.gpu_driver_version is not None:
        return ("system", "gpuDriverVersion")
    if lookup(site.choice.values, "driver.version") is not None:
        return (*site.at, "values", "driver", "version")
    return ("pools", pool, "shape")
