"""Releases: which of each project the folder `schemas/` holds, and which is nearest to the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from trainyard.base.findings import Finding, Location, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system import vendored
from trainyard.base.versions import begun, exact, line, nearest, order, same

NEAR = Rule(
    id="pairing/near-release",
    title="Trainyard knows the release of Kubernetes and of Argo CD.",
    why="the nearest known release is checked instead, and its API types may differ",
    fix="use a known release; the message names the nearest one",
    source="docs/apiserver.md",
    layer="pairing",
    severity=Severity.WARNING,
)
UNKNOWN_RELEASE = Rule(
    id="pairing/unknown-release",
    title="Trainyard knows the release of each operator, or the cluster's file names a similar one.",
    why="another release may have other charts, API types and requirements, so its check proves little",
    fix="use a known release, or write unlisted: {like: <known release>, reason: <why>} in the cluster's file",
    source="docs/clusters.md",
    layer="pairing",
)
UNKNOWN = Rule(
    id="pairing/unknown-operator",
    title="Trainyard knows each operator that is named.",
    why="Trainyard cannot render it, and cannot check its objects",
    fix="correct the name, remove it, or import its API types with `make schemas`",
    source="docs/apiserver.md",
    layer="pairing",
)

CORE = "kubernetes"
TOLERANT = frozenset({CORE, "argo-cd"})
"""What is there before anything is installed: its release is a fact, and not a choice."""

SHOWN = 6
"""Releases that a message lists."""
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
        """Return the kinds that a release serves, one entry for each version of a kind."""
        return vendored.kinds(self.folder, project, release)

    def holders(self, group: str, kind: str) -> list[str]:
        """Return the projects whose newest release has a kind."""
        return [project for project, of, name in newest(self) if (of, name) == (group, kind)]

    def kinds(self, group: str) -> set[str]:
        """Return the kinds of a group that the newest release of any project has."""
        return {kind for _, of, kind in newest(self) if of == group}


@lru_cache(maxsize=8)
def newest(shelf: Shelf) -> tuple[tuple[str, str, str], ...]:
    """Return project, group and kind of all that the newest release of each project has."""
    return tuple(
        (project, entry["group"], entry["kind"])
        for project in shelf.projects()
        for entry in shelf.index(project, shelf.releases(project)[-1])
        if entry.get("storage")
    )


def choose(
    shelf: Shelf, project: str, release: str | None, where: Callable[[str], Location]
) -> tuple[Choice | None, list[Finding]]:
    """Return the known release that is asked for, the newest of the line that is, or the newest of all.

    Of Kubernetes and of what nobody installs from here the nearest will do, with a warning. Any other release is an
    error that lists those that are known; the nearest one judges, so that the rest can be told.
    """
    known = shelf.releases(project)
    if not known or project in NO_PROJECTS - {CORE}:
        message = f"the API types of operator {project!r} are unknown; {did_you_mean(project, shelf.projects())}"
        return None, [UNKNOWN.of(where(project), message)]
    if release is None:
        return Choice(project, known[-1]), []
    asked = release.strip().removeprefix("v")
    found = nearest(asked, known)
    if same(found, line(asked)) if project == CORE else exact(found, asked):
        return Choice(project, found), []
    if project in TOLERANT:
        message = f"{project} {asked} is unknown; the nearest known release {found} is used instead"
        return Choice(project, found), [NEAR.of(where(project), message)]
    newest = begun(asked, known)
    if newest is not None:
        return Choice(project, newest), []
    return Choice(project, found), [UNKNOWN_RELEASE.of(where(project), not_known(project, asked, known))]


def not_known(project: str, asked: str, known: Iterable[str]) -> str:
    """Return the sentence on a release that is not known, which lists those that are, the newest first."""
    newest_first = sorted(known, key=order, reverse=True)
    shown = ", ".join(newest_first[:SHOWN]) + (f" and {len(newest_first) - SHOWN} more" if newest_first[SHOWN:] else "")
    return f"{project} {asked} is unknown; known releases: {shown}"
