"""An image must have the libraries of its container's GPUs.

Why: A program built for CUDA sees no AMD GPU, and one for ROCm none of NVIDIA's; it fails, or trains on the CPUs.
Fix: use an image for these GPUs, or GPUs for this image.
Source: ROCm 7 docs, Docker image support matrix; NVIDIA NGC catalog; docker.io/pytorch/pytorch tags
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Problem, Severity, World, is_gpu

SEVERITY = Severity.WARNING

NVIDIA, AMD = "nvidia.com/", "amd.com/gpu"

CUDA = re.compile(r"(?:^|/)nvcr\.io/nvidia/|(?:^|/)nvidia/cuda(?=[:@]|$)|[:_.-](?:cuda|cu)-?1[0-9][0-9.]*(?=[-_.@]|$)")
"""Images of NVIDIA's registry, also in a mirror of it, and tags that say which CUDA is in them."""

ROCM = re.compile(r"(?:^|/)rocm/|[:_.-]rocm-?[0-9][0-9.]*(?=[-_.@]|$)")
"""The same of AMD's."""


def check(world: World) -> Iterator[Problem]:
    """Look at the images of containers with GPUs whose name says for which GPUs they are."""
    for job in world.workloads():
        for path, container in job.containers():
            image, asked = container.get("image"), resources(container)
            if not isinstance(image, str):
                continue
            name = image.partition("@")[0]
            cuda, rocm = CUDA.search(name) is not None, ROCM.search(name) is not None
            place = Place(job.manifest, (*path, "image"))
            if AMD in asked and cuda and not rocm:
                yield Problem(place, "the image's name says CUDA, but the container has AMD GPUs; use one for ROCm")
            elif any(name.startswith(NVIDIA) and is_gpu(name) for name in asked) and rocm and not cuda:
                yield Problem(place, "the image's name says ROCm, but the container has NVIDIA GPUs; use one for CUDA")


def resources(container: Mapping[str, Any]) -> set[str]:
    """Return the names of what a container, or the trainer of a TrainJob, may use."""
    for field in ("resources", "resourcesPerNode"):
        given = container.get(field)
        limits = given.get("limits") if isinstance(given, dict) else None
        if isinstance(limits, dict):
            return {name for name in limits if isinstance(name, str)}
    return set()
