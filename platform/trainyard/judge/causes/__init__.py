"""Which findings follow from one mistake: those that go away where that alone is repaired.

Nothing declares what a rule depends on. A repair is tried on the specs in memory, they are judged again, and what is
no longer found follows from what was repaired. Repairs are tried in this order: fields of the platform's files that a
change touched, as they were at the base; names that nobody declares; what an error proposes; the field left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from trainyard.base.findings import Finding
from trainyard.base.system import reads
from trainyard.base.system.unforeseen import judge_safely
from trainyard.judge.causes import changed, names, proposals, repairs, shared, warned
from trainyard.judge.causes.blocked import blocked_by_files, unchecked
from trainyard.judge.causes.changed import Touched
from trainyard.judge.causes.repairs import Repair, Values, key_of
from trainyard.judge.causes.trial import Gone, Key, Trial, is_of_platform, key
from trainyard.judge.causes.words import jobs_of
from trainyard.judge.preflight import Checked
from trainyard.specs.load import Loaded

NONE: Mapping[str, str] = MappingProxyType({})

MOST = 40
"""So many repairs are tried."""

MANY = 3
"""So many uses of a name outweigh the one that is declared."""


def explain(
    checked: Checked, home: Path, *, ref: str | None = None, unopened: Mapping[str, str] = NONE
) -> list[Finding]:
    """Return the findings on specs, those that follow from another with its place as their cause.

    A cause at which nothing was found is a finding more. `home` is the repository whose policies count, `ref` leads
    to the base. `unopened` are the jobs whose files were not opened, as `team/job`, each with its cluster.
    """
    findings, loaded = checked.findings, checked.loaded
    if loaded is None or not findings:
        return findings

    def look() -> list[Finding]:
        found = blocked_by_files(loaded, checked.runs, findings, unopened)
        jobs = shared.files_of_jobs(found)
        touched = changed.Touched(loaded, ref, jobs | warned.files_of_jobs(loaded, found))
        if may_have_causes(found):
            found = Causes.of(checked, loaded, home, found).told(touched)
        if any(finding.shared for finding in found):
            found = shared.at_changes(found, changed.changed_fields(loaded, touched.of(jobs)))
        return proposals.without_broken(loaded, warned.below_changes(loaded, home, found, touched))

    with reads.apart():
        return judge_safely(look, lambda _: findings)


def may_have_causes(findings: Iterable[Finding]) -> bool:
    """Say whether an error may follow from another: one is in the platform's files, or there are several."""
    errors = [finding for finding in findings if finding.is_error]
    return len(errors) > 1 or any(map(is_of_platform, errors))


@dataclass
class Causes:
    """The causes that were found so far."""

    trial: Trial
    findings: dict[Key, Finding]
    blocks: dict[Key, set[str]] = field(default_factory=dict)
    """The jobs that each cause keeps from being checked though nothing was found in them."""
    causes: dict[Key, Key] = field(default_factory=dict)
    """What each finding follows from."""
    taken: list[Repair] = field(default_factory=list)
    """The repairs of these causes."""
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The changed fields of each file of the platform."""
    every: list[Finding] = field(default_factory=list)
    """The findings as they came, also those that say another sentence of the same field by the same rule."""

    @classmethod
    def of(cls, checked: Checked, loaded: Loaded, home: Path, findings: list[Finding]) -> Causes:
        """Return none yet, for the findings on specs."""
        wrong = {finding.location.file for finding in findings if finding.is_error}
        open_ = {(job.team, job.name) for job in unchecked(loaded, checked.runs)}
        jobs = [job for job in loaded.specs.jobs if job.source.file in wrong or (job.team, job.name) in open_]
        by_key = {key(finding): finding for finding in reversed(findings)}
        return cls(Trial(loaded, home, tuple(jobs)), dict(reversed(by_key.items())), every=findings)

    def told(self, touched: Touched) -> list[Finding]:
        """Return the findings with their causes."""
        tried = 0
        for repair in self.repairs(touched):
            if tried == MOST or not self.open_errors():
                break
            if (repaired := repair.edit(self.trial.loaded)) is not None:
                self.take(repair, repaired)
                tried += 1
        self.take_together()
        there = {key(finding) for finding in self.every}
        new = [finding for name, finding in self.findings.items() if name not in there]
        return [self.with_cause(key(finding), finding) for finding in (*self.every, *new)]

    def repairs(self, touched: Touched) -> Iterator[Repair]:
        """Yield the repairs to try, those of findings that follow from another left out."""
        loaded, listed = self.trial.loaded, list(self.findings.values())
        before = touched.of()
        self.changed = changed.changed_fields(loaded, before)
        yield from changed.reverts(loaded, listed, before)
        for repair in (*names.renames(loaded, listed, self.open_errors()), *repairs.of_errors(loaded, listed)):
            if repair.root is None or key(repair.root) not in self.causes | self.roots:
                yield repair

    @property
    def roots(self) -> dict[Key, set[str]]:
        """The findings from which others follow."""
        return {name: set() for name in (*self.causes.values(), *self.blocks)}

    def open_errors(self) -> list[Finding]:
        """Return the errors that neither follow from another nor have any below them."""
        roots = self.roots
        return [
            finding
            for name, finding in self.findings.items()
            if finding.is_error and name not in self.causes and name not in roots
        ]

    def take(self, repair: Repair, repaired: Loaded) -> None:
        """Take over what follows from the cause of a repair, where anything does."""
        gone = self.trial.of(repaired)
        if gone is None:
            return
        root = repair.root if repair.root and self.goes(repair.root, gone) else None
        if root is None and self.is_believed(repair, gone):
            root = self.known_root(repair.say(gone))
        known = {name for name in gone.findings if name in self.findings and name not in self.causes}
        if root is None or not (known - {key(root)} or gone.runs):
            return
        name = key(root)
        if repair.since_base:
            known = {other for other in known if not changed.stands_in(self.findings[other], self.changed, root)}
        self.findings.setdefault(name, root)
        self.taken.append(repair)
        if silent := set(gone.runs) - set(jobs_of(self.findings.values())):
            self.blocks[name] = silent
        self.causes |= dict.fromkeys(known - {name}, name)
        self.causes = {other: self.causes.get(cause, cause) for other, cause in self.causes.items()}

    def known_root(self, said: Finding | None) -> Finding | None:
        """Return the cause that stands at the same place already, or else this one."""
        there = (self.findings[name] for name in self.roots)
        return next((item for item in there if said and item.location == said.location), said)

    def goes(self, root: Finding, gone: Gone) -> bool:
        """Say whether an error goes away with its repair; one for which a file could not be read always does."""
        return key(root) in gone.findings or key_of(root.location.file) in self.trial.loaded.broken

    def is_believed(self, repair: Repair, gone: Gone) -> bool:
        """Say whether a place without a finding may be the cause: much follows from it, or no other repair helps."""
        errors = {(item.location, item.path, item.message) for item in gone.errors}
        if repair.since_base or max(len(errors), len(gone.runs)) >= MANY:
            return True
        other = repair.unless and repair.unless(self.trial.loaded)
        return other is not None and self.trial.of(other) is None

    def take_together(self) -> None:
        """Take over what follows from several causes together, as if it followed from the first of them."""
        edits = [(repair, repair.edit) for repair in self.taken if isinstance(repair.edit, Values)]
        if len(edits) < 2 or not self.open_errors():
            return
        every = Values(tuple(change for _, edit in edits for change in edit.changes))
        repaired = every(self.trial.loaded)
        gone = None if repaired is None else self.trial.of(repaired)
        first = min(self.roots, key=lambda name: self.findings[name].order)
        for name in gone.findings if gone else ():
            is_open = name in self.findings and name not in self.causes and name not in self.roots
            if is_open and not changed.stands_in(self.findings[name], self.changed, self.findings[first]):
                self.causes[name] = first

    def with_cause(self, name: Key, finding: Finding) -> Finding:
        """Return a finding with the place of its cause, or with the jobs that it keeps from being checked."""
        if name in self.causes:
            return replace(finding, cause=self.findings[self.causes[name]].location)
        blocks = self.blocks.get(name, ()) if finding is self.findings[name] else ()
        blocked = sorted({*finding.blocks, *blocks})
        return replace(finding, blocks=tuple(blocked)) if blocked else finding
