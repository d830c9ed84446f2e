"""What is wrong with specs as it weighs in a change, and which runs the change starts, keeps and ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding
from trainyard.change.synth import assemble, idle, repository
from trainyard.change.synth.assemble import Terms
from trainyard.change.synth.reading import Reading
from trainyard.change.synth.render.processes import make_ready
from trainyard.change.synth.runs import Decision
from trainyard.judge import causes
from trainyard.judge.causes.removed_mounts import with_removed
from trainyard.judge.checks.left_out import NOTHING, LeftOut, NamedJob, left_out
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
    looking: bool = False
    """Whether nobody asks for the files themselves, but for what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Based:
    """Specs, with the tree at the base of their change."""

    reading: Reading
    terms: Terms
    base: Snapshot | None
    """None where specs are wrong and the base cannot be told."""
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """Specs, with the findings on them as they weigh in this change."""

    based: Based
    findings: tuple[Finding, ...]
    jobs: tuple[Wanted, ...]
    """The runs that job files ask for; those with frozen findings as at the base."""
    without: LeftOut = NOTHING
    """What cannot be rendered."""
    whole: bool = False
    """Whether clusters with an error were tried and cannot be rendered, so that they are left out as a whole."""

    @property
    def refused(self) -> bool:
        """Whether an error is left, so that nothing may be written."""
        return has_errors(self.findings)


@dataclass(frozen=True, slots=True)
class Decided:
    """Specs, and what becomes of every run of which nothing is wrong with them."""

    reading: Reading
    terms: Terms
    base: Snapshot
    findings: tuple[Finding, ...]
    """What is said of specs."""
    notes: tuple[Finding, ...]
    """What is said of the base, and of programs that did not run."""
    decision: Decision
    without: LeftOut
    """What is not rendered."""
    whole: bool = False
    """Whether every cluster with an error is left out as a whole."""

    @property
    def readable(self) -> frozenset[str]:
        """The clusters that can be rendered although they have an error."""
        return frozenset(() if self.whole else self.reading.specs.clusters)

    @property
    def refused(self) -> bool:
        """Whether an error in specs is left, so that nothing may be written."""
        return has_errors(self.findings)


def against_base(reading: Reading, request: Request) -> Based:
    """Find the base that specs are compared with.

    Raises ToolError where it cannot be told, and for a live repository where nobody watches and none was named; not
    where specs are wrong and no base takes an error away.
    """
    terms, is_wrong = repository.terms(reading.specs, request.version), has_errors(reading.findings)
    if is_wrong and (reading.start.git is None or not terms.live):
        with suppress(ToolError):
            return Based(reading, terms, *base_of(reading, terms, request))
        return Based(reading, terms, None)
    if request.automated and terms.live and request.ref is None:
        raise ToolError(ASK)
    if not is_wrong:
        make_ready(reading.weight_of_clusters if request.looking else reading.weight)
    return Based(reading, terms, *base_of(reading, terms, request))


def base_of(reading: Reading, terms: Terms, request: Request) -> tuple[Snapshot, tuple[Finding, ...]]:
    """Return the tree at the base, and what is said of it."""
    start = reading.start
    base, notes = find_base(
        start.git,
        start.disk,
        start.memory,
        live=terms.live,
        ref=request.ref,
        revision=reading.specs.repository.revision,
        writing=not request.checking,
    )
    return base, tuple(notes)


def weigh(based: Based, ref: str | None = None) -> Weighed:
    """Make errors of frozen runs warnings where the base had them too."""
    reading, git = based.reading, based.reading.start.git
    findings = causes.explain(reading.checked, reading.root, ref=ref, unopened=reading.unopened())
    jobs = reading.jobs()
    if git is not None and based.base is not None and based.base.commit is not None:
        findings = with_removed(findings, reading.root, git, based.base.commit, reading.start.spec_ids)
    if not has_errors(findings):
        return Weighed(based, tuple(findings), tuple(jobs))
    if git is not None and based.base is not None and based.terms.live:
        frozen = Frozen(reading.root, git, based.base, in_specs(reading.root))
        findings = frozen.sort(findings)
        jobs = frozen.restore_jobs(jobs, findings)
    return Weighed(based, tuple(findings), tuple(jobs), without_errors(reading, findings))


def widened(weighed: Weighed) -> Weighed:
    """Return specs of which every cluster with an error is left out as a whole."""
    without = without_errors(weighed.based.reading, weighed.findings, whole=True)
    return replace(weighed, without=without, whole=True)


def without_errors(reading: Reading, findings: Sequence[Finding], *, whole: bool = False) -> LeftOut:
    """Return the parts that errors keep from being rendered; a job with frozen ones is as at the base.

    With `whole`, any error in a cluster's file keeps all of the cluster.
    """
    if not has_errors(findings):
        return NOTHING
    rest = [NamedJob.of(job) for job in reading.checked.rest]
    readable = () if whole else reading.specs.clusters
    small = reading.small()
    return left_out(findings, reading.named_jobs(), rest=rest, lost=reading.lost(), small=small, readable=readable)


def decide(weighed: Weighed, base: Snapshot) -> Decided:
    """Say which runs are new, which are frozen and which have ended, but for what cannot be rendered."""
    reading, terms, without = weighed.based.reading, weighed.based.terms, weighed.without
    unrun = idle.unrun_programs(reading.known, reading.start.spec_ids, base, reading.start.git)
    notes = (*weighed.based.notes, *unrun)
    jobs = asked_jobs(weighed, base)
    if without:
        jobs = [job for job in jobs if not without.has_key(job.key)]
        ledgers = {key: past for key, past in base.ledgers.items() if not without.has_key(key)}
        base = replace(base, ledgers=ledgers)
    decision = assemble.decide(jobs, base, terms)
    placed = tuple(at_field(reading.root, finding) for finding in decision.findings)
    return Decided(
        reading, terms, base, weighed.findings, notes, replace(decision, findings=placed), without, weighed.whole
    )


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
