"""Which releases of a project are newer than what we have: by the Go module proxy, PyPI, or tags of its repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas_sources import release as release_of_tag
from schemas_yaml import load
from trainyard.base.versions import order

HERE = Path(__file__).resolve().parent
HOST = "https://github.com/"
SECONDS = 60
"""How long a registry may take to answer."""
AT_ONCE = 4
PLAIN = re.compile(r"\d+(\.\d+){1,3}")
"""A release that is no preview."""


@dataclass(frozen=True)
class Row:
    """How one project's releases are found; the fields are those of registries.yaml."""

    module: str = ""
    below: str = ""
    package: str = ""
    begins: str = ""
    kubernetes: str = ""


@dataclass(frozen=True)
class Project:
    """A project that releases are looked for of: the newest that is known, and where its files were read."""

    name: str
    known: str
    repository: str = ""
    tag: str = ""
    row: Row = Row()
    releases: frozenset[str] = frozenset()
    """All releases that are known."""

    def tag_of(self, release: str) -> str:
        """Return the tag of a release, spelled as that of the known one."""
        return self.tag.replace(self.known, release) if self.known in self.tag else f"v{release}"


@dataclass(frozen=True)
class Answer:
    """What a registry said of a project."""

    project: Project
    registry: str
    newest: str | None = None
    """The newest release that is newer than the known one, or an older one that is asked for, if any."""
    error: str = ""
    """Why the registry could not be asked."""
    has_files: bool = True
    older: str | None = None
    """A release that is not known and older than the known one, and that nobody asked for."""


def neighbour(release: str, known: Iterable[str]) -> str:
    """Return the known release that a new one is compared with: the newest below it, else the oldest above."""
    others = [name for name in known if name != release]
    below = [name for name in others if order(name) < order(release)]
    return max(below, key=order) if below else min(others, key=order)


def rows() -> dict[str, Row]:
    """Return the rows of registries.yaml."""
    return {name: Row(**row) for name, row in load((HERE / "registries.yaml").read_text(encoding="utf-8")).items()}


def projects(lock: Mapping[str, Any], facts: Mapping[str, Iterable[str]]) -> Iterator[Project]:
    """Yield the projects of the lock and of the facts, whose releases are given by name, with the newest they have."""
    known_rows = rows()
    for name in sorted({*lock["projects"], *facts}):
        typed = lock["projects"].get(name, {})
        releases = frozenset({*typed, *facts.get(name, ())})
        newest = max(releases, key=order)
        entry = typed.get(newest, typed[max(typed, key=order)] if typed else {})
        row = known_rows.get(name, Row())
        if entry or row != Row():
            yield Project(name, newest, entry.get("repository", ""), entry.get("tag", f"v{newest}"), row, releases)


def newer(all_projects: Iterable[Project]) -> list[Answer]:
    """Ask the registries of all projects, some at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [answer for answers in pool.map(ask, all_projects) for answer in answers]


def ask(project: Project) -> list[Answer]:
    """Return the answer of each registry that a project has."""
    asked = [("Go module proxy", versions_of_module)] if project.row.module else []
    asked += [] if project.row.module or not project.repository else [("Git tags", versions_of_tags)]
    asked += [("PyPI", versions_of_package)] if project.row.package else []
    answers = []
    for registry, versions in asked:
        has_files = registry != "PyPI"
        try:
            newest = newest_of(project, versions(project))
            answers.append(Answer(project, registry, newest, has_files=has_files))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            answers.append(Answer(project, registry, error=said.strip().splitlines()[-1], has_files=has_files))
    return answers


def newest_of(project: Project, releases: Iterable[str]) -> str | None:
    """Return the newest release, without previews, that is newer than the known one."""
    newest = max(fitting(project, releases), key=order, default=project.known)
    return newest if order(newest) > order(project.known) else None


def older_of(project: Project, releases: Iterable[str]) -> str | None:
    """Return the newest release, without previews, that is older than the known one and not known itself."""
    missing = [name for name in fitting(project, releases) if order(name) < order(project.known)]
    return max((name for name in missing if name not in project.releases), key=order, default=None)


def fitting(project: Project, releases: Iterable[str]) -> list[str]:
    """Return the releases of a project that are no previews."""
    return [name for name in releases if PLAIN.fullmatch(name) and name.startswith(project.row.begins)]


def versions_of_module(project: Project) -> list[str]:
    """Return the releases that the Go module proxy lists."""
    listed = output_of("go", "list", "-m", "-json", "-versions", project.row.module)
    return [version.removeprefix("v") for version in json.loads(listed).get("Versions", [])]


def versions_of_package(project: Project) -> list[str]:
    """Return the releases that PyPI lists."""
    listed = output_of(sys.executable, "-m", "pip", "index", "versions", project.row.package)
    match = re.search(r"Available versions: (.*)", listed)
    return match[1].split(", ") if match else []


def versions_of_tags(project: Project) -> list[str]:
    """Return the releases that the tags of a repository name, those that are spelled as the known one's."""
    listed = output_of("git", "ls-remote", "--tags", "--refs", f"{HOST}{project.repository}.git")
    tags = [line.rpartition("refs/tags/")[2] for line in listed.splitlines()]
    return [release for release in map(release_of_tag, tags) if project.tag_of(release) in tags]


def output_of(*command: str) -> str:
    """Return the output of a program that runs away from any project; nobody is asked for a password."""
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GOFLAGS": "-mod=mod"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True, timeout=SECONDS)
    return done.stdout
