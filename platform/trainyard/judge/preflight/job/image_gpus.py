"""Whether the GPU software in a job's image works with the GPUs of its pools, and with their driver."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.operators.amd_gpu_operator import stated
from trainyard.render.operators.gpu_drivers import version
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster, Job, Team
from trainyard.specs.amdgpu import drivers_of, is_outside, supported
from trainyard.specs.cuda import branch_of, cuda_of, oldest_driver
from trainyard.specs.gpus import Generation, generation_of
from trainyard.specs.models.images import ImageWithSoftware
from trainyard.specs.run import pools_of
from trainyard.specs.shapes import is_known_shape

GPU_OPERATOR = "gpu-operator"

VENDOR = Rule(
    id="run/image-vendor",
    title="The GPU software in an image is for the GPUs of the job's pool.",
    why="a program for CUDA sees no AMD GPU, and one for ROCm none of NVIDIA's; it fails, or trains on the CPUs",
    fix="use an image for the GPUs of the pool, or another pool",
    source="ROCm 7 docs, Docker image support matrix; NVIDIA container toolkit documentation",
    layer="run",
)
DRIVER = Rule(
    id="run/image-driver",
    title="The driver on the nodes runs the CUDA or ROCm release of an image.",
    why=(
        "CUDA fails at its first call: CUDA driver version is insufficient for CUDA runtime version; AMD tests ROCm "
        "only with some drivers, which is a warning"
    ),
    fix=(
        "use an image with a release that the driver supports, or another gpuDriverVersion; list olderDrivers if the "
        "image has cuda-compat"
    ),
    source=(
        "NVIDIA CUDA compatibility guide, minor version compatibility; ROCm/amdgpu-docs "
        "docs/compatibility/compatibility-matrix.rst; docs/reference/gpus.md"
    ),
    may_warn=True,
    layer="run",
)
GENERATION = Rule(
    id="run/image-generation",
    title="The CUDA or ROCm release of an image supports the GPUs of the job's pool.",
    why="the libraries have no kernels for these GPUs: no kernel image is available for execution on the device",
    fix="use an image with a release that supports the GPUs, or another pool",
    source="CUDA release notes, new and deprecated architectures; ROCm release notes; docs/reference/gpus.md",
    may_warn=True,
    layer="run",
)


@PLACED.check()
def check(job: OneJob, _: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield software in the image that does not work on a pool whose GPUs the job uses."""
    software = job.file.job.software
    if software is None or (software.cuda is None and software.rocm is None):
        return
    for name in gpu_pools(job.file.job, cluster):
        gpus = cluster.pools[name].node.gpus
        if gpus is None:
            continue
        kind = "cuda" if gpus.vendor == "nvidia" else "rocm"
        release = software.cuda if gpus.vendor == "nvidia" else software.rocm
        if release is None:
            there, wanted = ("ROCm", "CUDA") if gpus.vendor == "nvidia" else ("CUDA", "ROCm")
            message = f"image has {there}, but pool {name!r} has GPUs of {gpus.vendor}; use an image with {wanted}"
            yield VENDOR.at(job.file.source, ("image",), message, key=True)
            continue
        generation = generation_of(gpus.product)
        if kind == "cuda":
            yield from check_driver(job, cluster, name, software)
        else:
            yield from check_amdgpu(job, cluster, name, release, generation)
        if generation is not None:
            yield from check_generation(job, ("image", kind), release, generation)


def gpu_pools(job: Job, cluster: Cluster) -> list[str]:
    """Return the pools whose GPUs pods of a job use, each once."""
    own = pools_of(job, cluster)
    asked = [*own] if job.gpus_per_node or job.gpu is not None else []
    for role in job.roles.values():
        asked += () if not role.gpus_per_node else (role.pool,) if role.pool else own
    known = (name for name in dict.fromkeys(asked) if name in cluster.pools)
    return [name for name in known if is_known_shape(cluster.pools[name].shape)]


def check_driver(job: OneJob, cluster: Cluster, pool: str, software: ImageWithSoftware) -> Iterator[Finding]:
    """Yield a CUDA release that is newer than the driver of a pool runs, where the driver is known."""
    release, oldest = driver(cluster, pool), oldest_driver(software.cuda or "")
    branch = branch_of(release) if release is not None else None
    if oldest is None or branch is None or branch >= oldest or branch in software.older_drivers:
        return
    runs = cuda_of(branch)
    message = (
        f"image has CUDA {software.cuda}, but pool {pool!r} has driver {release}; use CUDA {major(runs)} or driver "
        f"{oldest} or newer"
    )
    yield DRIVER.at(job.file.source, ("image", "cuda"), message)


def check_amdgpu(job: OneJob, cluster: Cluster, pool: str, rocm: str, gpus: Generation | None) -> Iterator[Finding]:
    """Yield a ROCm release that AMD does not support with the driver that the file names for a pool."""
    driver = stated(cluster, pool).gpu_driver_version
    if driver is None or not is_outside(driver, rocm):
        return
    known, first = supported(driver), (gpus and gpus.first_amdgpu) or ""
    newer = order(rocm) > order(known[-1])
    others = [branch for branch in drivers_of(rocm) if order(branch) >= order(first)]
    way = f" or amdgpu {others[0 if newer else -1]}" if others else ""
    message = f"image has ROCm {rocm}, but amdgpu {driver} of pool {pool!r} supports {known[0]} to {known[-1]}"
    yield DRIVER.at(job.file.source, ("image", "rocm"), f"{message}; use those{way}", severity=Severity.WARNING)


def driver(cluster: Cluster, pool: str) -> str | None:
    """Return the release of NVIDIA's driver on the nodes of a pool; None where nobody names it."""
    own = cluster.system_of(pool).gpu_driver_version
    site = next((site for site in sites(cluster) if site.name == GPU_OPERATOR), None) if own is None else None
    return version(site, pool) if site is not None else own


def major(cuda: str | None) -> str:
    """Return the releases that share a major one with a release.

    >>> major("12.4")
    '12.x'
    """
    return f"{(cuda or '10').partition('.')[0]}.x"


def check_generation(job: OneJob, path: Path, release: str, gpus: Generation) -> Iterator[Finding]:
    """Yield a release that is too old or too new for the GPUs; NVIDIA's drivers compile some older programs for them.

    CUDA C++ programming guide, application compatibility: PTX of an older program runs on newer GPUs.
    """
    title = "CUDA" if gpus.vendor == "nvidia" else "ROCm"
    if gpus.last_cuda is not None and order(release) > order(gpus.last_cuda):
        message = f"image has {title} {release}, but {gpus.called} needs {title} {gpus.last_cuda} or older"
        yield GENERATION.at(job.file.source, path, f"{message}; use such an image")
    elif gpus.first_cuda is not None and order(release) < order(gpus.first_cuda):
        message = f"image has {title} {release}, but {gpus.called} needs {title} {gpus.first_cuda} or newer"
        severity = Severity.WARNING if gpus.vendor == "nvidia" else Severity.ERROR
        yield GENERATION.at(job.file.source, path, f"{message}; use such an image", severity=severity)
