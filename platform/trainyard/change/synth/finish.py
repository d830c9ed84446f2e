"""The end of a synth: the disk is compared with the tree, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.system.git import Git
from trainyard.base.system.repository import GENERATED
from trainyard.change.synth import drift
from trainyard.change.synth import write as trees
from trainyard.change.synth.runs import Decision
from trainyard.change.synth.staged import unseen_paths
from trainyard.change.synth.write import Changes, Tree
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.hardware import hardware_with_runs


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
    disk: Disk,
    tree: Tree,
    decision: Decision,
    *,
    notes: Iterable[Finding] = (),
    checking: bool = False,
    git: Git | None = None,
) -> Work:
    """Compare the tree with the disk; while `checking`, whatever is different there, or in `git`, is a finding too."""
    there = disk.scan(GENERATED)
    changes = trees.compare(tree, there, disk.root / GENERATED)
    found = [*notes, *decision.findings, *drift.strangers(changes, checking=checking)]
    checks = checked(tree, changes, decision, there, git) if checking else ()
    return Work(disk, tree, changes, decision, tuple(sorted([*found, *checks], key=lambda finding: finding.order)))


def checked(
    tree: Tree, changes: Changes, decision: Decision, there: Mapping[str, str | None], git: Git | None
) -> Iterator[Finding]:
    """Yield the findings of `synth --check`: every file on disk, or in Git, that a synth would change."""
    if git is not None:
        yield from unseen_paths(git, tree.ids, there)
    yield from drift.stale(tree, changes, decision)
    if tree.base.live:
        runs = {entry.key: entry.run for entry in (*decision.fresh, *decision.frozen)}
        yield from hardware_with_runs(tree.base, tree.ids, runs)
