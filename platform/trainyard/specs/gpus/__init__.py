"""Generations of GPUs: their models, the drivers and CUDA or ROCm releases that know them, and what they lack."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Count, Spec, Text
from trainyard.specs.models.gpus import Profile

Feature = Literal["bf16", "flash attention 2", "FP8", "FP4"]

Modules = Literal["open", "proprietary"]


class Link(Spec):
    """Connection between GPUs that does not use PCIe."""

    name: Text
    """Name and generation, such as `NVLink 4`."""
    speed: Annotated[float, Field(gt=0)]
    """Gigabytes per second of one GPU, both directions together."""
    through: Literal["NVSwitch", "bridge", "cables of the board"]
    """Connecting part: a switch, which connects all GPUs; a bridge between neighbours; or the board."""
    gpus: Count
    """Largest number of GPUs that it connects."""


class MigProfiles(Spec):
    """Devices that MIG cuts a model into."""

    slices: Literal[4, 7]
    """Compute slices of the whole GPU."""
    profiles: dict[Profile, Count]
    """Memory slices of each profile, of eight where the GPU has seven compute slices, and of four where it has four."""


class Model(Spec):
    """GPUs of one name and memory size."""

    product: Text
    """Expression of the product label."""
    called: Text
    """Name, for messages."""
    memory: Count
    """Gibibytes, rounded up, of one GPU; programs see up to a tenth less, where error correction takes a part."""
    link: Link | None = None
    """Connection to other GPUs; default: PCIe only."""
    mig: MigProfiles | None = None
    """Devices that MIG makes of it; default: it has no MIG."""


class Generation(Spec):
    """GPUs of one architecture."""

    title: Text
    """Name of the architecture."""
    vendor: Literal["nvidia", "amd"]
    products: tuple[Text, ...]
    """Expressions of the names that labels, instance types and data sheets give them."""
    called: Text
    """Names of its products, for messages."""
    models: tuple[Model, ...] = ()
    """Models of which memory, link and MIG profiles are known; products may have other models, too."""
    lacks: tuple[Feature, ...] = ()
    """Precisions and kernels that the GPUs have no units for."""
    first_driver: Count | None = None
    """First branch of NVIDIA's driver that knows all of them, such as 570."""
    last_driver: Count | None = None
    """Last branch of NVIDIA's driver that knows them; default: none yet."""
    first_amdgpu: Text | None = None
    """First release of AMD's driver that knows all of them, such as "30.10"."""
    driver: Text | None = None
    """Release of the last branch that new clusters install; default: the operator's own."""
    first_cuda: Text | None = None
    """First CUDA or ROCm release whose compilers and libraries know all of them."""
    last_cuda: Text | None = None
    """Last CUDA or ROCm release whose libraries know them; default: none yet."""
    modules: tuple[Modules, ...] = ("open", "proprietary")
    """Kernel modules of NVIDIA's driver that work with them."""
    partitions: tuple[Text, ...] = ()
    """Modes of AMD GPUs in which a card shows itself as several GPUs, such as `CPX/NPS4`; default: none."""
    sources: dict[str, Text]
    """Source of each fact: field -> document; of models, `models.memory`, `models.link` and `models.mig`."""


@cache
def generations() -> dict[str, Generation]:
    """Return every generation by name, as the files of this folder say; raises SpecError where one is damaged."""
    return read_facts(__name__, Generation, "generation of GPUs")


@cache
def model_of(product: str) -> Model | None:
    """Return the model of a product by its label, or None where it is not known."""
    generation, name = generation_of(product), product.replace("_", "-")
    rows = generation.models if generation is not None else ()
    return next((row for row in rows if re.search(row.product, name)), None)


@cache
def generation_of(product: str) -> Generation | None:
    """Return the generation of a product, by any of its names, or None where it is not known."""
    name = product.replace("_", "-")
    rows = generations().values()
    return next((row for row in rows for pattern in row.products if re.search(pattern, name)), None)
