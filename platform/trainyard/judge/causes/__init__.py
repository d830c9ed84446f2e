"""Which findings follow from one mistake: those that go away where that alone is repaired.

Nothing declares what a rule depends on. A repair is tried on the specs in memory, they are judged again, and what is
no longer found follows from what was repaired. Repairs are tried in this order: fields of the platform's files that a
change touched, as they were at the base; names that nobody declares; what an error proposes; the field left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.base.findings import Finding, Location
from trainyard.base.system import reads
from trainyard.judge.causes import changed, names, proposals, repairs
from trainyard.judge.causes.blocked import blocked_by_files, unchecked
from trainyard.judge.causes.repairs import Repair
from trainyard.judge.causes.trial import Key, Trial, is_of_platform, key
from trainyard.judge.causes.words import jobs_of
from trainyard.judge.preflight import Checked
from trainyard.specs.load import Loaded

MOST = 40
"""So many repairs are tried."""

MANY = 3
"""So many uses of a name outweigh the one that is declared."""


def explain(checked: Checked, home: Path, *, ref: str | None = None) -> list[Finding]:
    """Return the findings on specs, those that follow from another with its place as their cause.

    A cause at which nothing was found is a finding more. `home` is the repository whose policies count, `ref` leads
    to the base.
    """
    findings, loaded = checked.findings, checked.loaded
    if loaded is None or not any(finding.is_error for finding in findings):
        return findings
    with reads.apart():
        found = blocked_by_files(loaded, checked.runs, findings)
        if may_have_causes(found):
            found = Causes.of(checked, home, found).told(ref)
        return proposals.without_broken(loaded, found)


def may_have_causes(findings: Iterable[Finding]) -> bool:
    """Say whether an error may follow from another: one is in the platform's files, or several say alike."""
    errors = [finding for finding in findings if finding.is_error]
    return len(errors) > 1 or any(map(is_of_platform, errors))


@dataclass
class Causes:
    """The causes that were found so far."""

    trial: Trial
    findings: dict[Key, Finding]
    names: dict[Key, set[str]] = field(default_factory=dict)
    """The jobs that each cause keeps from being checked."""
    causes: dict[Key, Key] = field(default_factory=dict)
    """What each finding follows from."""

    @classmethod
    def of(cls, checked: Checked, home: Path, findings: list[Finding]) -> Causes:
        """Return none yet, for the findings on specs."""
        assert checked.loaded is not None
        wrong = {finding.location.file for finding in findings if finding.is_error}
        open_ = unchecked(checked.loaded, checked.runs)
        jobs = [job for job in checked.loaded.specs.jobs if job.source.file in wrong or job in open_]
        return cls(Trial(checked.loaded, home, tuple(jobs)), {key(finding): finding for finding in findings})

    def told(self, ref: str | None) -> list[Finding]:
        """Return the findings with their causes."""
        tried = 0
        for repair in self.repairs(ref):
            if tried == MOST or not self.open_errors():
                break
            if (repaired := repair.edit(self.trial.loaded)) is not None:
                self.take(repair, repaired)
                tried += 1
        return [self.with_cause(name, finding) for name, finding in self.findings.items()]

    def repairs(self, ref: str | None) -> Iterator[Repair]:
        """Yield the repairs to try, those of findings that follow from another left out."""
        loaded, listed = self.trial.loaded, list(self.findings.values())
        yield from changed.reverts(loaded, listed, changed.at_base(loaded, ref))
        yield from names.renames(loaded, self.open_errors())
        for repair in repairs.of_errors(loaded, listed):
            if repair.root is None or key(repair.root) not in self.causes:
                yield repair

    def open_errors(self) -> list[Finding]:
        """Return the errors that neither follow from another nor have any below them."""
        roots = set(self.causes.values()) | set(self.names)
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
        known = {name for name in gone.findings if name in self.findings and name not in self.causes}
        root = repair.root
        if root is not None and key(root) not in gone.findings:
            root = None
        if root is None:
            root = repair.say(gone) if self.is_believed(repair, gone) else None
        if root is None or not (known - {key(root)} or gone.runs):
            return
        name = key(root)
        self.findings.setdefault(name, root)
        self.names[name] = self.names.get(name, set()) | gone.runs - self.failed()
        for other in known - {name}:
            self.causes[other] = name
        for other, cause in self.causes.items():
            if cause in self.causes and cause != name:
                self.causes[other] = name

    def is_believed(self, repair: Repair, gone: Gone) -> bool:
        """Say whether a place without a finding may be the cause: much follows from it, or no other repair helps."""
        errors = {(item.location, item.path, item.message) for item in gone.findings.values() if item.is_error}
        if repair.since_base or len(errors) >= MANY:
            return True
        other = repair.unless and repair.unless(self.trial.loaded)
        return other is not None and self.trial.of(other) is None

    def failed(self) -> set[str]:
        """Return the jobs in which something was found."""
        return set(jobs_of(self.findings.values()))

    def with_cause(self, name: Key, finding: Finding) -> Finding:
        """Return a finding with the place of its cause, or with the jobs that it keeps from being checked."""
        if name in self.causes:
            return replace(finding, cause=self.findings[self.causes[name]].location)
        blocked = sorted({*finding.blocks, *self.names.get(name, ())})
        return replace(finding, blocks=tuple(blocked)) if blocked else finding
