"""The GPU software that an image's configuration names: what NVIDIA's and AMD's base images set.

Facts: nvidia/container-images/cuda dist/12.0.0/ubuntu2204/base/Dockerfile (CUDA_VERSION, NVIDIA_REQUIRE_CUDA);
ROCm/ROCm-docker dev/Dockerfile-ubuntu-24.04 (ROCM_VERSION).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.specs.cuda import oldest_driver

RELEASE = re.compile(r"([1-9][0-9]?)\.([0-9]{1,2})(?:[.\-+]|$)")
REQUIRED = re.compile(r"cuda>=([1-9][0-9]?\.[0-9]{1,2})")
OLDER = re.compile(r"(?:^|,)driver>=([0-9]{3})(?:,|$)")
DATA_CENTER = "brand=tesla"
"""Condition on GPUs for data centers, the ones that the forward compatibility package is for."""


def software_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the software in an image, by the fields of a job's `image`; empty where nothing is named."""
    found: dict[str, Any] = {}
    labels = config.get("Labels")
    named = {**(labels if isinstance(labels, dict) else {}), **environment(config)}
    required = str(named.get("NVIDIA_REQUIRE_CUDA") or "")
    said = REQUIRED.search(required)
    cuda = release(named.get("CUDA_VERSION")) or (said[1] if said else None)
    if cuda is not None:
        found["cuda"] = cuda
        if older := older_drivers(required, cuda):
            found["olderDrivers"] = older
    if (rocm := release(named.get("ROCM_VERSION"))) is not None:
        found["rocm"] = rocm
    return found


def environment(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that an image sets."""
    listed = config.get("Env")
    pairs = (item.partition("=") for item in listed or () if isinstance(item, str))
    return {name: value for name, _, value in pairs} if isinstance(listed, list) else {}


def release(text: Any) -> str | None:
    """Return the major and minor release in a version.

    >>> release("12.8.1"), release("7.0"), release("latest")
    ('12.8', '7.0', None)
    """
    match = RELEASE.match(text) if isinstance(text, str) else None
    return f"{match[1]}.{match[2]}" if match else None


def older_drivers(required: str, cuda: str) -> list[int]:
    """Return the branches older than an image's CUDA that its requirement allows on data center GPUs.

    Conditions apart by spaces are alternatives, those apart by commas must all hold (NVIDIA container toolkit).

    >>> older_drivers("cuda>=13.0 brand=tesla,driver>=535,driver<536 brand=geforce,driver>=550,driver<551", "13.0")
    [535]
    """
    oldest = oldest_driver(cuda)
    alternatives = (way for way in required.split() if DATA_CENTER in way.split(","))
    branches = {int(match[1]) for way in alternatives if (match := OLDER.search(way))}
    return sorted(branch for branch in branches if oldest is not None and branch < oldest)
