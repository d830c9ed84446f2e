"""Releases of AMD's driver (amdgpu) by major release: the ROCm releases that each branch supports."""

from __future__ import annotations

from functools import cache

from trainyard.base.versions import line, order
from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text


class Major(Spec):
    """A major release; those before 30 came with ROCm, and have its numbers."""

    rocm: dict[Text, tuple[Text, ...]]
    """ROCm releases that AMD supports with each branch, such as `30.10`, from the oldest to the newest."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def majors() -> dict[int, Major]:
    """Return every major release by its number; raises SpecError where a file is damaged."""
    return {int(name): row for name, row in read_facts(__name__, Major, "release of amdgpu").items()}


@cache
def branches() -> dict[str, tuple[str, ...]]:
    """Return the ROCm releases of every branch, from the oldest branch to the newest."""
    found = {branch: rocm for row in majors().values() for branch, rocm in row.rocm.items()}
    return {branch: found[branch] for branch in sorted(found, key=order)}


def supported(driver: str) -> tuple[str, ...]:
    """Return the ROCm releases that a release of the driver supports, or nothing where its branch is not known.

    >>> supported("6.3.2")
    ('6.1', '6.2', '6.3', '6.4', '7.0')
    """
    return branches().get(line(driver), ())


def is_outside(driver: str, rocm: str) -> bool:
    """Whether a ROCm release is known to be too old or too new for a release of the driver.

    Newer releases than the table has may be supported by drivers that support its newest.

    >>> is_outside("6.3.2", "7.2"), is_outside("30.10.1", "10.1"), is_outside("31.60.0", "7.0")
    (True, False, False)
    """
    known = supported(driver)
    newest = max((releases[-1] for releases in branches().values()), key=order)
    return bool(known) and (order(rocm) < order(known[0]) or (order(rocm) > order(known[-1]) and known[-1] != newest))


def drivers_of(rocm: str) -> tuple[str, ...]:
    """Return the branches that support a ROCm release, from the oldest to the newest."""
    return tuple(branch for branch, releases in branches().items() if rocm in releases)
