"""Reads the two trees of a plan: the one at the base from Git, and the one that a merge would bring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.errors import SpecError, ToolError
from trainyard.findings import Finding
from trainyard.plan.compare import compare
from trainyard.plan.effects import Plan, RunEffect
from trainyard.plan.rebuild import rebuild
from trainyard.plan.refused import Verdict
from trainyard.specs.load import read_repository
from trainyard.system import cache, files
from trainyard.system import git as system_git
from trainyard.system.git import Git
from trainyard.system.repository import GENERATED, JOBS, SETTINGS, is_repository
from trainyard.tree import layout
from trainyard.tree.commit import ASK, base_commit
from trainyard.tree.disk import CACHE, Disk
from trainyard.tree.rules import STALE
from trainyard.tree.snapshot import Snapshot, from_disk, from_git, settings
from trainyard.tree.wanted import wanted


def read(root: Path, verdict: Verdict | None = None, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return what the change at hand does, compared with the base; it need not be committed.

    `verdict` is what a synth makes of it; without one the plan is told of the tree on disk. `automated` says that
    nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    data = files.read(root / SETTINGS)
    if data is None and not is_repository(root):
        raise SpecError(f"folder {str(root)!r} has no {SETTINGS}; go to a repository")
    git = system_git.find(root)
    if git is None:
        raise ToolError(f"a plan compares two commits, but {system_git.absent()}")
    live, revision = settings(data or b"")
    if automated and live and ref is None:
        raise ToolError(ASK)
    commit = base_commit(git, ref, revision=revision)
    base = from_git(git, commit)
    store = cache.private(CACHE, outside=root)
    disk = Disk(root, store, git.algorithm)
    there = from_disk(root / GENERATED, disk.scan(GENERATED))
    tree = verdict.tree if verdict else None
    now = there if tree is None else tree
    notes = [*(unreadable(now) if tree is None else ()), *behind(root, git, commit, disk, there)]
    disk.save()

    def spec(file: str) -> tuple[bytes | None, bytes | None]:
        oid = git.object_id(commit, file) if commit else None
        return next(git.read([oid])) if oid else None, files.read(root / file)

    found = compare(base, now, spec, live=live)
    told = verdict.told if verdict else "disk"
    findings = (*found.findings, *base.findings, *notes, *(verdict.findings if verdict else ()))
    return replace(
        found,
        runs=tuple(edited(each, base, there) for each in found.runs) if tree is not None and base.live else found.runs,
        told=told,
        switched=found.switched if told != "refused" or found.switched == "off" else None,
        findings=settled(findings),
        rebuild=rebuild(now, store),
    )


def edited(effect: RunEffect, base: Snapshot, there: Snapshot) -> RunEffect:
    """Return the effect of a run that a synth would restore, as that of its files on disk: somebody edited them."""
    folder = f"{effect.cluster}/{layout.run_folder(effect.team, effect.run)}"
    is_edited = effect.word == "keeps" and base.folder(folder) != there.folder(folder)
    return replace(effect, word="changes") if is_edited else effect


def settled(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in order, each once.

    That the tree is behind a file goes without saying where the file itself is refused.
    """
    found = dict.fromkeys(findings)
    wrong = {each.location.file for each in found if each.is_error and STALE.id != each.rule}
    left = (each for each in found if STALE.id != each.rule or each.location.file not in wrong)
    return tuple(sorted(left, key=lambda finding: finding.order))


def unreadable(now: Snapshot) -> Iterator[Finding]:
    """Yield the ledgers at hand that cannot be read, whose runs the plan would else take for stopped."""
    message = "this ledger cannot be read, so its runs look stopped; restore it with `trainyard synth`"
    yield from (replace(each, message=message) for each in now.findings)


def behind(root: Path, git: Git, commit: str | None, disk: Disk, now: Snapshot) -> Iterator[Finding]:
    """Yield the changed job files whose runs are not in the tree at hand, which a plan therefore says nothing of."""
    oid = git.object_id(commit, JOBS) if commit else None
    before = git.listing(oid) if oid else {}
    there = disk.scan(JOBS)
    same = {path for path, each in there.items() if before.get(path) == each}
    if len(same) == len(there) or not is_repository(root):
        return
    loaded = read_repository(root, skip=frozenset(f"{JOBS}/{path}" for path in same))
    for each in map(wanted, loaded.specs.jobs):
        entry = now.active.get(each.key)
        if (entry.name if entry else None) != (None if each.retired else each.run):
            message = f"generated/ does not have what this file says of job {each.job!r}; run `trainyard synth` first"
            yield STALE.of(each.location, message)
