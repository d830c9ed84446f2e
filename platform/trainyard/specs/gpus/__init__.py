"""Generations of GPUs: their names, the drivers and CUDA or ROCm releases that know them, and what they lack."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Count, Spec, Text

Feature = Literal["bf16", "flash attention 2", "FP8", "FP4"]

Modules = Literal["open", "proprietary"]


class Generation(Spec):
    """GPUs of one architecture."""

    title: Text
    """Name of the architecture."""
    vendor: Literal["nvidia", "amd"]
    products: tuple[Text, ...]
    """Expressions of the names that labels, instance types and data sheets give them."""
    called: Text
    """Names of its products, for messages."""
    lacks: tuple[Feature, ...] = ()
    """Precisions and kernels that the GPUs have no units for."""
    first_driver: Count | None = None
    """First branch of NVIDIA's driver that knows all of them, such as 570."""
    last_driver: Count | None = None
    """Last branch of NVIDIA's driver that knows them; default: none yet."""
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
    """Source of each fact: field -> document."""


@cache
def generations() -> dict[str, Generation]:
    """Return every generation by name, as the files of this folder say; raises SpecError where one is damaged."""
    return read_facts(__name__, Generation, "generation of GPUs")


@cache
def generation_of(product: str) -> Generation | None:
    """Return the generation of a product, by any of its names, or None where it is not known."""
    name = product.replace("_", "-")
    rows = generations().values()
    return next((row for row in rows for pattern in row.products if re.search(pattern, name)), None)
