"""What can be judged of a repository although something in it has an error: the tree without what that concerns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainyard.base.findings import Finding
from trainyard.change.synth.incremental import Synthesis, left_on_disk
from trainyard.change.synth.reading import Reading
from trainyard.change.synth.weigh import Decided, without_errors
from trainyard.change.synth.write import Tree
from trainyard.judge.checks.left_out import JudgedSpecs, LeftOut
from trainyard.render.tree import layout
from trainyard.render.tree.rules import NAMESPACE_CHANGED, STALE, UNKNOWN

FOLLOWS = frozenset({STALE.id, UNKNOWN.id})
"""Rules of what goes without saying while nothing can be written: that the tree is not as a synth would write it."""


def team_of(file: str) -> str:
    """Return the team that a file of teams is about."""
    return PurePosixPath(file).stem


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in specs, and the tree whose objects can be judged."""

    reading: Reading
    findings: tuple[Finding, ...]
    """What is said of specs."""
    tree: Tree
    without: LeftOut
    """What is left out of the tree."""
    context: frozenset[str]
    """Files of that, below `generated/`: others may refer to them, but nothing is said of them."""
    readable: frozenset[str] = frozenset()
    """The clusters that can be rendered although they have an error."""

    def specs(self) -> JudgedSpecs:
        """Return the specs and their tree, for the judgement of objects."""
        checked = replace(self.reading.checked, findings=list(self.findings), waivers=self.reading.waivers())
        start = self.reading.start
        named, base = self.reading.named_jobs(), self.tree.base
        tree, context = self.tree.snapshot, self.context
        return JudgedSpecs(checked, named, self.without, tree, context, start.disk, base, start.memory)


def judged(decided: Decided, made: Synthesis) -> Judged:
    """Return the tree of a synth, in which everything that has an error is as it is on disk."""
    reading = decided.reading
    without = without_errors(reading, [*decided.findings, *made.decision.findings], whole=decided.whole)
    left = left_on_disk(reading.start.disk, without)
    tree = replace(made.tree, known={**left, **made.tree.known}) if left else made.tree
    rendered = made.tree.texts.keys() | made.tree.kept.keys()
    moved = {
        team_of(finding.location.file) for finding in made.decision.findings if finding.rule == NAMESPACE_CHANGED.id
    }
    stay = {path for path in tree.snapshot.files if (run := layout.run_of(path)) and layout.job_of_run(run)[0] in moved}
    context = {*(left.keys() - rendered), *filter(without.is_quiet, tree.snapshot.files), *stay}
    return Judged(reading, decided.findings, tree, without, frozenset(context), decided.readable)


def without_consequences(decided: Decided, made: Synthesis, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings on a tree without those that follow from errors in specs, or in what becomes of runs."""
    decisive = (finding.is_error and finding in made.decision.findings for finding in findings)
    is_behind = decided.refused or any(decisive)
    return [
        finding
        for finding in findings
        if not (is_behind and finding.rule in FOLLOWS) and finding.location.file not in decided.without.extra
    ]
