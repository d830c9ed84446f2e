"""Releases: which of each project the folder `schemas/` holds, and which is nearest to the one that is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from trainyard.findings import Finding, Location, Severity, did_you_mean

CORE = "kubernetes"
NO_PROJECTS = frozenset({CORE, "charts", "trainyard"})
"""Folders beside the projects'."""

INDEX = "index.json"


@dataclass(frozen=True, slots=True)
class Choice:
    """A project at a release that is known."""

    project: str
    release: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder `schemas/`: one folder for a project, in it one for each release."""

    folder: Path

    def projects(self) -> list[str]:
        """Return the names of all projects, in order."""
        return [name for name in _folders(self.folder) if name not in NO_PROJECTS]

    def releases(self, project: str) -> list[str]:
        """Return a project's releases, the oldest first."""
        return sorted(_folders(self.folder / project), key=numbers)

    def index(self, project: str, release: str) -> list[dict[str, Any]]:
        """Return what a release serves, one entry for each version of a kind."""
        return _index(self.folder / project / release / INDEX)

    def holders(self, group: str, kind: str) -> list[str]:
        """Return the projects whose newest release has a kind."""
        return [project for project, entry in self._newest() if (entry["group"], entry["kind"]) == (group, kind)]

    def kinds(self, group: str) -> set[str]:
        """Return the kinds of a group that the newest release of any project has."""
        return {entry["kind"] for _, entry in self._newest() if entry["group"] == group}

    def _newest(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for project in self.projects():
            for entry in self.index(project, self.releases(project)[-1]):
                if entry.get("storage"):
                    yield project, entry


def choose(
    shelf: Shelf, project: str, release: str | None, where: Callable[[str], Location]
) -> tuple[Choice | None, list[Finding]]:
    """Return the nearest known release to the one asked for, or the newest; say so where it is another."""
    known = shelf.releases(project)
    if not known or project in NO_PROJECTS - {CORE}:
        message = f"no API types of operator {project!r} are known; {did_you_mean(project, shelf.projects())}"
        return None, [Finding("pairing/unknown-operator", "pairing", message, where(project))]
    if release is None:
        return Choice(project, known[-1]), []
    asked = release.strip().removeprefix("v")
    name = ".".join(asked.split(".")[:2]) if project == CORE else asked
    found = nearest(name, known)
    if found == name:
        return Choice(project, found), []
    message = f"{project} {asked} is not known here; the nearest known release {found} is used instead"
    finding = Finding("pairing/near-release", "pairing", message, where(project), Severity.WARNING)
    return Choice(project, found), [finding]


def nearest(release: str, known: Iterable[str]) -> str:
    """Return the known release with the least distance, the first number weighing most; of two, the newer."""
    asked = numbers(release)

    def distance(name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        own = numbers(name)
        length = max(len(own), len(asked))
        pairs = zip(_padded(own, length), _padded(asked, length), strict=True)
        return tuple(abs(one - two) for one, two in pairs), tuple(-number for number in own)

    return release if release in (names := list(known)) else min(names, key=distance)


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, for comparing: (0, 19, 2) of 0.19.2."""
    return tuple(int(digits) for digits in re.findall(r"\d+", release)[:4])


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return release + (0,) * (length - len(release))


def _folders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


@lru_cache(maxsize=256)
def _index(file: Path) -> list[dict[str, Any]]:
    """Read an index file."""
    kinds: list[dict[str, Any]] = json.loads(file.read_bytes())["kinds"]
    return kinds
