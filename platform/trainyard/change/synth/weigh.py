"""What is wrong with specs as it weighs in a change, and which runs the change starts, keeps and ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding
from trainyard.change.synth import assemble, idle, repository
from trainyard.change.synth.assemble import Terms
from trainyard.change.synth.reading import Reading
from trainyard.change.synth.render.processes import make_ready
from trainyard.change.synth.runs import Decision
from trainyard.judge import causes
from trainyard.judge.frozen import Frozen, in_specs
from trainyard.render.tree.base import find_base
from trainyard.render.tree.commit import ASK
from trainyard.render.tree.origins import at_field
from trainyard.render.tree.programs import as_at_base
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import Wanted
from trainyard.specs.reading.rules import RULES

UNSTEADY = RULES["python-same"].id


@dataclass(frozen=True, slots=True)
class Request:
    """What a synth is asked to do."""

    version: str
    """The release that renders."""
    ref: str | None = None
    """Leads to the base, where somebody names it."""
    checking: bool = False
    """Whether nothing is to be written, and every difference is a finding."""
    automated: bool = False
    """Whether nobody watches, as in continuous integration."""


@dataclass(frozen=True, slots=True)
class Based:
    """Specs, with the tree at the base of their change."""

    reading: Reading
    terms: Terms
    base: Snapshot | None
    """None where specs are wrong and nothing is frozen, so that no base takes an error away."""
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """Specs, with the findings on them as they weigh in this change."""

    based: Based
    findings: tuple[Finding, ...]
    jobs: tuple[Wanted, ...]
    """The runs that job files ask for; those with frozen findings as at the base."""

    @property
    def refused(self) -> bool:
        """Whether an error is left, so that nothing can be rendered."""
        return has_errors(self.findings)


@dataclass(frozen=True, slots=True)
class Decided:
    """Specs without errors, and what becomes of every run."""

    reading: Reading
    terms: Terms
    base: Snapshot
    findings: tuple[Finding, ...]
    """What is said of specs."""
    notes: tuple[Finding, ...]
    """What is said of the base, and of programs that did not run."""
    decision: Decision


def against_base(reading: Reading, request: Request) -> Based:
    """Find the base that specs are compared with.

    Raises ToolError where it cannot be told, and for a live repository where nobody watches and none was named.
    """
    start, specs = reading.start, reading.specs
    terms = repository.terms(specs, request.version)
    if has_errors(reading.findings) and (start.git is None or not terms.live):
        return Based(reading, terms, None)
    if request.automated and terms.live and request.ref is None:
        raise ToolError(ASK)
    make_ready(reading.weight)
    base, notes = find_base(
        start.git,
        start.disk,
        start.memory,
        live=terms.live,
        ref=request.ref,
        revision=specs.repository.revision,
        writing=not request.checking,
    )
    return Based(reading, terms, base, tuple(notes))


def weigh(based: Based, ref: str | None = None) -> Weighed:
    """Make errors of frozen runs warnings where the base had them too."""
    reading, git = based.reading, based.reading.start.git
    findings, jobs = causes.explain(reading.checked, reading.root, ref=ref), reading.jobs()
    if git is None or based.base is None or not has_errors(findings):
        return Weighed(based, tuple(findings), tuple(jobs))
    frozen = Frozen(reading.root, git, based.base, in_specs(reading.root))
    weighed = frozen.sort(findings)
    return Weighed(based, tuple(weighed), tuple(frozen.restore_jobs(jobs, weighed)))


def decide(weighed: Weighed, base: Snapshot) -> Decided:
    """Say which runs are new, which are frozen and which have ended."""
    reading, terms = weighed.based.reading, weighed.based.terms
    unrun = idle.unrun_programs(reading.known, reading.start.spec_ids, base, reading.start.git)
    notes = (*weighed.based.notes, *unrun)
    decision = assemble.decide(asked_jobs(weighed, base), base, terms)
    placed = tuple(at_field(reading.root, finding) for finding in decision.findings)
    return Decided(reading, terms, base, weighed.findings, notes, replace(decision, findings=placed))


def asked_jobs(weighed: Weighed, base: Snapshot) -> Sequence[Wanted]:
    """Return the runs that job files ask for, those of unchanged programs as at the base."""
    reading, start = weighed.based.reading, weighed.based.reading.start
    if start.git is None or not weighed.based.terms.live:
        return weighed.jobs
    unsteady = [finding.location.file for finding in weighed.findings if finding.rule == UNSTEADY]
    jobs = as_at_base(weighed.jobs, base, start.git, start.spec_ids, reading.small(), unsteady)
    return idle.with_ended(jobs, reading.known, base, start.disk)


def has_errors(findings: Iterable[Finding]) -> bool:
    """Say whether an error is among the findings."""
    return any(finding.is_error for finding in findings)
