"""The tree at the base: what a change is compared with, and what is frozen."""

from __future__ import annotations

from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding
from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system import files
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git, absent
from trainyard.base.system.repository import GENERATED, SETTINGS
from trainyard.render.tree import layout, ledger
from trainyard.render.tree.commit import base_commit, base_of
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import runs_of
from trainyard.render.tree.rules import UNPROVEN, place
from trainyard.render.tree.settings import settings
from trainyard.render.tree.snapshot import Snapshot, from_disk, from_git
from trainyard.specs import Repository


def find_base(
    git: Git | None,
    disk: Disk,
    memory: Memory = NOTHING_KNOWN,
    *,
    live: bool,
    ref: str | None = None,
    revision: str = "main",
    writing: bool = True,
) -> tuple[Snapshot, list[Finding]]:
    """Return the snapshot at the base, and a finding where less can be proven than with Git at hand.

    Raises ToolError where the base cannot be told.
    """
    if git is None:
        if ref is not None:
            raise ToolError(f"--base {ref!r} needs Git, but {absent()}")
        if not live:
            return Snapshot(), []
        message = f"{absent()}, so all runs in generated/ count as existing, and edits to them cannot be detected"
        return from_disk(disk.root / GENERATED, disk.scan(GENERATED)), [unproven_warning(message)]
    try:
        base = base_of(git, ref, revision=revision, writing=writing)
    except ToolError as error:
        if live or ref is not None:
            raise
        return Snapshot(algorithm=git.algorithm), [
            unproven_warning(f"cannot tell whether live was true before: {error}")
        ]
    return from_git(git, base, memory), []


def runs_known(root: Path, job: str) -> int:
    """Return how many runs of `<team>/<job>` the ledgers of all clusters remember, those at hand or those at the base.

    After a revert the ledgers at hand know less than the base.
    """
    team, _, name = job.partition("/")
    there = runs_of(root, team, name)
    data = files.read(root / SETTINGS)
    git = system_git.find(root)
    if git is None or data is None:
        return there
    try:
        commit = base_commit(git, None, revision=settings(data)[1], writing=True)
    except ToolError:
        return there
    tree = git.object_id(commit, GENERATED) if commit else None
    ending = layout.ledger_file(team, name)
    found = [oid for path, oid in git.listing(tree).items() if path.partition("/")[2] == ending] if tree else []
    return max(there, sum(len(ledger.load(one_data) or ()) for one_data in git.read(found)))


def merged_text(root: Path, file: str, settings: Repository) -> bytes | None:
    """Return a spec's file at the base, which clusters may have seen; where nobody can tell, as it is at hand."""
    git = system_git.find(root)
    if git is None:
        return files.read(root / file)
    try:
        commit = base_commit(git, None, revision=settings.revision, writing=True)
    except ToolError:
        return files.read(root / file)
    found = git.object_id(commit, file) if commit else None
    return next(iter(git.read([found])), None) if found else None


def unproven_warning(message: str) -> Finding:
    """Return the warning that something could not be looked at."""
    return UNPROVEN.of(place(), message)
