"""Reads the two trees of a plan: the one at the base from Git, the one at hand from disk."""

from __future__ import annotations

from pathlib import Path

from trainyard.errors import SpecError, ToolError
from trainyard.plan.compare import compare
from trainyard.plan.effects import Plan
from trainyard.synth.base import ASK, base_commit
from trainyard.synth.disk import Disk
from trainyard.synth.snapshot import GENERATED, REPOSITORY, from_disk, from_git, settings
from trainyard.system import files
from trainyard.system import git as system_git
from trainyard.system.cache import Cache, folder


def read(root: Path, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return what the tree at hand does, compared with the base; it need not be committed.

    `automated` says that nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    data = files.read(root / REPOSITORY)
    if data is None:
        raise SpecError(f"folder {str(root)!r} has no {REPOSITORY}; go to a repository")
    git = system_git.find(root)
    if git is None:
        raise ToolError("a plan compares two commits, but there is no Git repository here")
    live, revision = settings(data)
    if automated and live and ref is None:
        raise ToolError(ASK)
    commit = base_commit(git, ref, revision=revision)
    base = from_git(git, commit)
    disk = Disk(root, Cache(folder(root)), git.algorithm)
    now = from_disk(root / GENERATED, disk.scan(GENERATED))
    disk.save()

    def spec(file: str) -> tuple[bytes | None, bytes | None]:
        oid = git.object_id(commit, file) if commit else None
        return next(git.read([oid])) if oid else None, files.read(root / file)

    return compare(base, now, spec, live=live)
