"""The edges of a synth: the base is found before it, the disk compared and written after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    changes = trees.compare(tree, disk.scan(GENERATED), disk.root / GENERATED)
    findings = [*notes, *decision.findings, *drift.strangers(changes, checking=checking)]
    if checking and git is not None:
        findings += unseen_paths(git, tree.ids, disk.scan(GENERATED))
    if checking:
        findings += drift.stale(tree, changes, decision)
        runs = {entry.key: entry.run for entry in (*decision.fresh, *decision.frozen)}
        findings += hardware_with_runs(tree.base, tree.ids, runs) if tree.base.live else ()
    return Work(disk, tree, changes, decision, tuple(sorted(findings, key=lambda finding: finding.order)))
