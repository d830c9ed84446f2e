"""One synth from beginning to end: find the base, decide, render, compare; writing is left to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.errors import ToolError
from trainyard.findings import Finding, Location, Severity
from trainyard.synth import tree as trees
from trainyard.synth import verdict
from trainyard.synth.base import base_commit
from trainyard.synth.disk import scan
from trainyard.synth.render import Rendered
from trainyard.synth.runs import Decision, Wanted
from trainyard.synth.snapshot import GENERATED, Snapshot, from_disk, from_git
from trainyard.synth.target import Inputs, target
from trainyard.synth.tree import Changes, Tree
from trainyard.system import git as system_git


@dataclass(frozen=True, slots=True)
class Work:
    """What `generated/` should be, what is different on disk, and what there is to say about it."""

    folder: Path
    tree: Tree
    changes: Changes
    decision: Decision
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    def write(self) -> Iterator[str]:
        """Write the tree file by file, yielding each path that is done; see `tree.write`."""
        return trees.write(self.tree, self.changes, self.folder)

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff from the disk to the tree."""
        return trees.diff(self.tree, self.changes, self.folder)


def prepare(
    root: Path,
    inputs: Inputs,
    render: Callable[[Sequence[Wanted]], Iterable[Rendered]],
    *,
    ref: str | None = None,
    revision: str = "main",
    checking: bool = False,
) -> Work:
    """Work out what to write below `root`; while `checking`, whatever is different on disk is a finding too.

    Raises ToolError where the base cannot be told.
    """
    folder = root / GENERATED
    base, notes = snapshot(root, live=inputs.live, ref=ref, revision=revision, writing=not checking)
    tree, decision = target(inputs, base, render)
    changes = trees.compare(tree, scan(folder, base.algorithm), folder)
    findings = [*notes, *decision.findings, *verdict.strangers(changes, checking=checking)]
    if checking:
        findings += verdict.stale(tree, changes, decision)
    return Work(folder, tree, changes, decision, tuple(sorted(findings, key=lambda finding: finding.order)))


def snapshot(
    root: Path, *, live: bool, ref: str | None, revision: str, writing: bool
) -> tuple[Snapshot, list[Finding]]:
    """Return the snapshot at the base, and a finding where less can be proven than with Git at hand."""
    git = system_git.find(root)
    if git is None:
        if ref is not None:
            raise ToolError(f"--base {ref!r} needs Git, and a repository around this folder")
        if not live:
            return Snapshot(), []
        message = "without Git the ledger at hand says what is frozen; nothing proves that it was not rewritten"
        return from_disk(root / GENERATED, scan(root / GENERATED)), [unproven(message)]
    try:
        commit = base_commit(git, ref, revision=revision, writing=writing)
    except ToolError as error:
        if live or ref is not None:
            raise
        return Snapshot(), [unproven(f"nothing shows whether live was true before: {error}")]
    return from_git(git, commit), []


def unproven(message: str) -> Finding:
    """Return the warning that something could not be looked at."""
    return Finding("run/unproven", "run", message, Location(GENERATED), Severity.WARNING)
