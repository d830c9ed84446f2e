"""The page on GPUs: generations, models with memory, links and MIG profiles, and what the drivers run."""

from __future__ import annotations

from collections.abc import Iterator

from docs_fields import cell
from trainyard.specs import amdgpu, cuda
from trainyard.specs.gpus import Link, Model, generations

GPUS = """\
Generations of GPUs, by which drivers, images and precisions are checked. `make docs` writes this page from
`platform/trainyard/specs/gpus`. A pool names the release of its driver with `system: {gpuDriverVersion: ...}`
([pools](../pools.md#drivers-of-pools)). A source *assumed* means that no document was found."""

GENERATIONS = ("generation", "products", "driver", "CUDA or ROCm", "kernel modules", "lacks", "partitions")

MODELS = """\
Memory is in GiB, rounded up. A link has the gigabytes per second of one GPU, both directions together. Where there is
none, GPUs exchange data over PCIe. Profiles follow the product label; those of other models cannot be checked."""

CUDA = """\
A driver runs programs of all minor releases of its CUDA, and of older ones. Older drivers run only images with the
forward compatibility package for them, which [`olderDrivers`](job.md#field-image-olderDrivers) of an image lists."""

ROCM = """\
AMD supports these ROCm releases with each branch of its driver (amdgpu). Others may work; an image with one is a
warning. Drivers that support the newest release of this table are taken to support newer ones."""


def page() -> Iterator[str]:
    """Yield the page on generations of GPUs."""
    yield from ("# GPUs", "", *GPUS.splitlines(), "", *head(GENERATIONS))
    for name, row in generations().items():
        driver = reach(row.first_driver, row.last_driver) if row.vendor == "nvidia" else reach(row.first_amdgpu, None)
        yield line(
            f"[{row.title}](#{name})",
            row.called,
            driver,
            reach(row.first_cuda, row.last_cuda),
            ", ".join(row.modules) if row.vendor == "nvidia" else "",
            ", ".join(row.lacks),
            ", ".join(row.partitions),
        )
    yield from ("", "## Models", "", *MODELS.splitlines(), "", *head(("model", "memory", "link", "MIG profiles")))
    for row in generations().values():
        for model in row.models:
            yield line(model.called, str(model.memory), link(model.link), profiles(model))
    yield from ("", "## CUDA", "", *CUDA.splitlines(), "", *head(("CUDA", "oldest driver", "came with", "source")))
    for number, major in cuda.majors().items():
        came = ", ".join(f"{release}: {branch}" for release, branch in major.drivers.items())
        yield line(f"{number}.x", str(major.first_driver), came, "; ".join(major.sources.values()))
    yield from ("", "## ROCm", "", *ROCM.splitlines(), "", *head(("amdgpu", "ROCm", "source")))
    for _, releases in sorted(amdgpu.majors().items()):
        for branch, rocm in releases.rocm.items():
            yield line(f"{branch}.x", ", ".join(rocm), releases.sources["rocm"])
    for name, row in generations().items():
        yield from ("", f"## {name}", "", f"{row.title}: {row.called}.", "", *head(("fact", "source")))
        yield from (line(f"`{field}`", source) for field, source in row.sources.items())


def head(columns: tuple[str, ...]) -> tuple[str, str]:
    """Return the first two lines of a table."""
    return f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"


def line(*cells: str) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(cell, cells))} |"


def reach(first: object, last: object) -> str:
    """Return a range of releases: from the first on, or up to the last."""
    return f"{first} to {last}" if last is not None else f"from {first} on"


def link(found: Link | None) -> str:
    """Return a link in words."""
    return f"{found.name}, {found.speed:,g} GB/s, {found.through}, up to {found.gpus} GPUs" if found else ""


def profiles(model: Model) -> str:
    """Return the MIG profiles of a model."""
    return ", ".join(model.mig.profiles) if model.mig else ""
