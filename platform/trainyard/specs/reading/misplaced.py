"""Specs in folders that nobody reads, as `platform/cluster/` and `Jobs/`: what they ask for is overlooked otherwise."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.system import files
from trainyard.base.system.repository import CLUSTERS, JOBS, SETTINGS, SPECS, TEAMS
from trainyard.specs.reading import job_files
from trainyard.specs.reading.layout import SPELLINGS, Place, problem, text, visible

PLATFORM = SETTINGS.partition("/")[0]
OF_PLATFORM = tuple(path.partition("/")[2] for path in SPECS if path.startswith(f"{PLATFORM}/") and path != SETTINGS)
"""The folders of the platform that are read."""

NEAR = 0.7
"""From which likeness on a folder's name is taken for a slip: `team` for `teams`, `clutsers` for `clusters`."""


def meant(name: str, names: Iterable[str]) -> str | None:
    """Return which of the names a folder that is none of them is meant to be, None where that cannot be told.

    >>> meant("cluster", ["clusters", "teams"]), meant("Teams", ["clusters", "teams"]), meant("trainyard", ["teams"])
    ('clusters', 'teams', None)
    """
    known = list(names)
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=NEAR)
    return near[0] if near and name not in known else None


def folder_of(path: str) -> str | None:
    """Return the folder of specs that the path of a misplaced one is meant to lie in."""
    first, _, rest = path.partition("/")
    if first != PLATFORM:
        return meant(first, [JOBS])
    found = meant(rest.partition("/")[0], OF_PLATFORM) if "/" in rest else None
    return found and f"{PLATFORM}/{found}"


def misplaced_specs(root: Path) -> Iterator[Finding]:
    """Yield the specs beside the folders that are read, and in folders whose names are slips of theirs."""
    for name in names(root):
        if (found := meant(name, [JOBS])) and (root / name).is_dir():
            for place in jobs(root, name):
                candidate = job_files.candidate(place, files.read(root / place.path) or b"")
                if set(candidate.value) >= job_files.JOB_WORDS:
                    yield problem("folder", place.path, f"file is a job in {name}/; move it to {found}/{place.folder}/")
    if (root / PLATFORM).is_symlink():
        return
    for name in names(root / PLATFORM):
        path = f"{PLATFORM}/{name}"
        if path != SETTINGS and path.endswith(".yaml") and (root / path).is_file():
            yield problem("folder", path, misplaced_problem(name))
        elif (found := meant(name, OF_PLATFORM)) and (root / path).is_dir():
            there = (text(f"{path}/{file.path}") for file in visible(files.walk(root / path)))
            for file in (path_ for path_ in there if path_.endswith((".yaml", ".py", *SPELLINGS))):
                yield problem("folder", file, f"file is in {path}/; move it to {PLATFORM}/{found}/")


def misplaced_problem(name: str) -> str:
    """Return the problem with a file in the platform's folder itself."""
    settings = SETTINGS.partition("/")[2]
    if meant(name, [settings]):
        return f"file is named {name}, but Trainyard only reads {settings}; rename it"
    return f"file is in {PLATFORM}/ itself; move it to {CLUSTERS}/ or {TEAMS}/"


def jobs(root: Path, folder: str) -> Iterator[Place]:
    """Yield YAML files that lie as jobs do, in a folder of another name."""
    for file in visible(files.walk(root / folder)):
        team, _, name = file.path.rpartition("/")
        if file.regular and name.endswith(".yaml") and "/" not in team:
            path = text(f"{folder}/{file.path}")
            yield Place(path, team or "<team>", name.removesuffix(".yaml"), file.stat.st_size)


def names(folder: Path) -> list[str]:
    """Return the visible names in a folder; nothing where there is none."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
