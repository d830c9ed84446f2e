"""Major releases of CUDA: the oldest branch of NVIDIA's driver that runs them, and the branch that each came with."""

from __future__ import annotations

import re
from functools import cache

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Count, Spec, Text


class Major(Spec):
    """A major release, whose minor releases run with all drivers of it."""

    first_driver: Count
    """Oldest branch of NVIDIA's driver that runs programs of every minor release."""
    drivers: dict[Text, Count]
    """Branch of the driver that came with each minor release, such as `12.8`: 570."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def majors() -> dict[int, Major]:
    """Return every major release by its number; raises SpecError where a file is damaged."""
    return {int(name): row for name, row in read_facts(__name__, Major, "release of CUDA").items()}


def oldest_driver(cuda: str) -> int | None:
    """Return the oldest branch of the driver that runs programs of a release; None of one that is not known."""
    row = majors().get(int(cuda.partition(".")[0]))
    return row.first_driver if row is not None else None


def cuda_of(driver: int) -> str | None:
    """Return the newest release that came with a branch of the driver or an older one; None for the oldest branches."""
    came = {branch: cuda for row in majors().values() for cuda, branch in row.drivers.items() if branch <= driver}
    return came[max(came)] if came else None


def branch_of(release: str) -> int | None:
    """Return the branch of a release of NVIDIA's driver.

    >>> branch_of("580.126.20")
    580
    """
    number = re.match(r"[0-9]+", release)
    return int(number[0]) if number else None
