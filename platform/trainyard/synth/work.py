"""The edges of a synth: the base is found before it, the disk compared and written after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.errors import ToolError
from trainyard.findings import Finding, Location, Severity
from trainyard.synth import tree as trees
from trainyard.synth import verdict
from trainyard.synth.base import base_commit
from trainyard.synth.disk import Disk
from trainyard.synth.runs import Decision
from trainyard.synth.snapshot import GENERATED, Snapshot, from_disk, from_git
from trainyard.synth.tree import Changes, Tree
from trainyard.system.cache import Cache
from trainyard.system.git import Git


@dataclass(frozen=True, slots=True)
class Work:
    """What `generated/` should be, what is different on disk, and what there is to say about it."""

    disk: Disk
    tree: Tree
    changes: Changes
    decision: Decision
    findings: tuple[Finding, ...]

    @property
    def folder(self) -> Path:
        """The folder of the tree."""
        return self.disk.root / GENERATED

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    def write(self) -> Iterator[str]:
        """Write the tree file by file, yielding each path that is done; see `tree.write`."""
        written = frozenset(self.changes.write)
        for path in trees.write(self.tree, self.changes, self.folder):
            if path in written:
                self.disk.wrote(GENERATED, path, self.tree.ids[path])
            yield path

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff from the disk to the tree."""
        return trees.diff(self.tree, self.changes, self.folder)


def finish(
    disk: Disk, tree: Tree, decision: Decision, *, notes: Iterable[Finding] = (), checking: bool = False
) -> Work:
    """Compare the tree with the disk; while `checking`, whatever is different there is a finding too."""
    changes = trees.compare(tree, disk.scan(GENERATED), disk.root / GENERATED)
    findings = [*notes, *decision.findings, *verdict.strangers(changes, checking=checking)]
    if checking:
        findings += verdict.stale(tree, changes, decision)
        runs = {each.key: each.run for each in (*decision.fresh, *decision.frozen)}
        findings += verdict.hardware_with_runs(tree.base, tree.ids, runs) if tree.base.live else ()
    return Work(disk, tree, changes, decision, tuple(sorted(findings, key=lambda finding: finding.order)))


def find_base(
    git: Git | None,
    disk: Disk,
    store: Cache | None = None,
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
            raise ToolError(f"--base {ref!r} needs Git, and a repository around this folder")
        if not live:
            return Snapshot(), []
        message = "without Git the ledger at hand says what is frozen; nothing proves that it was not rewritten"
        return from_disk(disk.root / GENERATED, disk.scan(GENERATED)), [unproven(message)]
    try:
        commit = base_commit(git, ref, revision=revision, writing=writing)
    except ToolError as error:
        if live or ref is not None:
            raise
        return Snapshot(algorithm=git.algorithm), [unproven(f"nothing shows whether live was true before: {error}")]
    return from_git(git, commit, store), []


def unproven(message: str) -> Finding:
    """Return the warning that something could not be looked at."""
    return Finding("run/unproven", "run", message, Location(GENERATED), Severity.WARNING)
