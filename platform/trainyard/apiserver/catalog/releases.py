"""Releases: which of each project the folder `schemas/` holds, and which is nearest to the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.findings import Finding, Location, Severity, did_you_mean
from trainyard.rules import Rule
from trainyard.system import vendored
from trainyard.versions import line, nearest, order, same

NEAR = Rule(
    id="pairing/near-release",
    title="The release of an operator, or of Kubernetes, is one that is known.",
    why="facts and API types of another release may differ from what is installed",
    fix="take a known release; the message names the nearest",
    source="docs/apiserver.md",
    layer="pairing",
    severity=Severity.WARNING,
)
UNKNOWN = Rule(
    id="pairing/unknown-operator",
    title="An operator that is named is one that is known.",
    why="nothing can be written for it, and its objects cannot be judged",
    fix="correct the name, remove it, or import its API types with `make schemas`",
    source="docs/apiserver.md",
    layer="pairing",
)

CORE = "kubernetes"
NO_PROJECTS = frozenset({CORE, vendored.CHARTS, "trainyard"})
"""Folders beside the projects'."""


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
        return [name for name in vendored.folders(self.folder) if name not in NO_PROJECTS]

    def releases(self, project: str) -> list[str]:
        """Return a project's releases, the oldest first."""
        return sorted(vendored.folders(self.folder / project), key=order)

    def carries(self, project: str, release: str) -> bool:
        """Whether a release of a project is among them itself."""
        return any(same(release, known) for known in vendored.folders(self.folder / project))

    def index(self, project: str, release: str) -> list[dict[str, Any]]:
        """Return what a release serves, one entry for each version of a kind."""
        return vendored.kinds(self.folder, project, release)

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
        return None, [UNKNOWN.of(where(project), message)]
    if release is None:
        return Choice(project, known[-1]), []
    asked = release.strip().removeprefix("v")
    found = nearest(asked, known)
    if same(found, line(asked) if project == CORE else asked):
        return Choice(project, found), []
    message = f"{project} {asked} is not known here; the nearest known release {found} is used instead"
    return Choice(project, found), [NEAR.of(where(project), message)]
