"""A job under another name: its new file, what else names it, and what becomes of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.errors import SpecError
from trainyard.base.findings import Path as FieldPath
from trainyard.base.system import files
from trainyard.base.system.repository import CLUSTERS, EXTRA, JOBS, SETTINGS, TEAMS, job_file
from trainyard.specs.editing.fields import fields
from trainyard.specs.editing.items import add_field, drop_field, set_item
from trainyard.specs.reading import layout
from trainyard.specs.sources import JobFile, Specs

ELSEWHERE = (JOBS, CLUSTERS, TEAMS, EXTRA, SETTINGS, "policies", ".github", "CODEOWNERS", "docs", "README.md")
"""Where people name jobs beside the field `after`, which is changed."""

TEXTS = (".yaml", ".yml", ".py", ".md", "CODEOWNERS")


@dataclass
class Renamed:
    """What a job's other name changes."""

    team: str
    old: str
    new: str
    file: JobFile
    """The job under its old name."""
    changes: dict[str, str | None] = field(default_factory=dict)
    """Texts of files by path in the repository; None takes a file away."""
    mentions: list[str] = field(default_factory=list)
    """Places that name the job, and that a person has to look at."""

    @property
    def folder(self) -> str | None:
        """Where the job saves before and after; None where it does not."""
        checkpoint = self.file.job.checkpoint
        return None if checkpoint is None else checkpoint.folder or self.old


def new_name(specs: Specs, team: str, old: str, asked: str, taken: Iterable[str]) -> str:
    """Return the new name of a team's job; raises SpecError for one that it cannot have."""
    place, slash, name = asked.rpartition("/")
    if slash and place != team:
        hint = "write it there, and retire this one"
        raise SpecError(
            f"a job of team {place!r} cannot use these checkpoints, because volumes belong to a team; {hint}"
        )
    if wrong := layout.job_name(job_file(team, name), name):
        raise SpecError(wrong.message)
    if f"{team}/{name}" in taken:
        raise SpecError(f"job '{team}/{name}' exists already; choose another name")
    for job in specs.jobs:
        checkpoint = job.job.checkpoint
        if job.team == team and job.name != old and checkpoint and checkpoint.folder == name:
            raise SpecError(f"job '{team}/{job.name}' saves to folder {name!r}; choose another name")
    return name


def rename(root: Path, specs: Specs, file: JobFile, new: str, *, merged: bytes | None) -> Renamed:
    """Return the renaming with its changed files; `merged` is the job's file on the default branch.

    Raises SpecError where a file is written in a way that only a person can edit.
    """
    found = Renamed(file.team, file.name, new, file)
    path = job_file(file.team, file.name)
    text = (files.read(root / path) or b"").decode("utf-8", "surrogateescape")
    back = file.job.renamed_from == new
    found.changes[job_file(file.team, new)] = undone(text, path, new) if back else moved(text, path, found, merged)
    for other in specs.jobs:
        if other.source.document is not None and other is not file:
            follow(root, found, other)
    found.changes[path] = None
    found.mentions = list(mentions(root, found))
    return found


def moved(text: str, path: str, found: Renamed, merged: bytes | None) -> str:
    """Return the file under its new name: where it saves as before, and whose run is to end."""
    if merged is None:
        return text
    job, has = found.file.job, fields(text, path)
    if found.folder and has["checkpoint"].get("folder") is None:
        text = add_field(text, path, ("checkpoint",), "folder", found.old)
    over = job.retired and fields(merged.decode("utf-8", "surrogateescape"), path).get("retired") is True
    if over or job.step or has.get("renamedFrom") == found.old:
        return text
    if "renamedFrom" in has:
        return set_item(text, path, ("renamedFrom",), found.old)
    return add_field(text, path, (), "renamedFrom", found.old)


def undone(text: str, path: str, new: str) -> str:
    """Return the file of a job that gets back the name that it had before."""
    text = drop_field(text, path, (), "renamedFrom")
    checkpoint = fields(text, path).get("checkpoint")
    return drop_field(text, path, ("checkpoint",), "folder") if checkpoint and checkpoint.get("folder") == new else text


def follow(root: Path, found: Renamed, other: JobFile) -> None:
    """Change the names of jobs that another comes after."""
    path = other.source.file
    for index, name in enumerate(other.job.after):
        team, slash, job = name.rpartition("/")
        if job == found.old and (team or other.team) == found.team:
            place: FieldPath = ("after", index)
            before = found.changes.get(path) or (files.read(root / path) or b"").decode("utf-8", "surrogateescape")
            found.changes[path] = set_item(before, path, place, f"{team}{slash}{found.new}")


def mentions(root: Path, found: Renamed) -> Iterator[str]:
    """Yield the places that name the job as <team>/<job>, and those in programs of its team that name it alone."""
    whole = re.compile(rf"(?:(?<![-\w/])|(?<=jobs/)){re.escape(found.team)}/{re.escape(found.old)}(?![-\w/])")
    alone = re.compile(rf"""(['"]){re.escape(found.old)}\1""")
    for top in ELSEWHERE:
        listed = [top] if (root / top).is_file() else [f"{top}/{file.path}" for file in files.walk(root / top)]
        for path in listed:
            if path in found.changes or not path.endswith(TEXTS):
                continue
            data = files.read_plain(root / path, most=layout.MAX_BYTES)
            own = path.startswith(f"{JOBS}/{found.team}/") and path.endswith(".py")
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if whole.search(line) or (own and alone.search(line)):
                    yield f"{path}:{number}"
