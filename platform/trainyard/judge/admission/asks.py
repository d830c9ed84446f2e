"""Workloads of each job, or the reason why Kueue does not decide about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trainyard.base.findings import Finding
from trainyard.judge.admission.job_workloads import bid, keys, shape_of
from trainyard.judge.admission.site import Site, admits
from trainyard.judge.preflight import Checked
from trainyard.judge.preflight.jobs import is_known, run_of
from trainyard.render.kinds import Resolved, build, resolve
from trainyard.specs import Job
from trainyard.specs.sources import JobFile, Specs, prefix_of

ROOM = frozenset(
    {
        *("kq-max-quota", "tas-domain-size", "spec/nodes"),
        *("spec/cpus-per-node", "spec/memory-per-node", "spec/containers"),
    }
)
"""Rules by which a job has no room, of which Kueue has a word to say too."""

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Ask:
    """A job, its run where it has one, and the Workloads that Kueue makes of it."""

    file: JobFile
    run: Resolved | None = None
    workloads: Sequence[Object] = ()
    owners: Sequence[Object] = ()
    """The object that each of the Workloads is made of."""
    beside: Sequence[Object] = ()
    """Other objects of the run that Kueue reads: runtimes and templates of claims."""
    why: str = ""
    """Why Kueue is not asked; empty where it is."""
    gang: bool = False
    """Whether Volcano starts it: its one Workload is its pods in the same form."""

    @cached_property
    def name(self) -> str:
        """The job as `<team>/<job>`."""
        return f"{self.file.team}/{self.file.name}"

    @property
    def later(self) -> bool:
        """Whether it is not there before somebody starts it: a step of a pipeline."""
        return self.file.job.step

    @cached_property
    def keys(self) -> list[str]:
        """What its Workloads are called in answers."""
        return keys(self.workloads)

    @cached_property
    def shape(self) -> str:
        """A text that is the same for jobs of one namespace that ask for the same."""
        return shape_of(self.workloads)


def asks(checked: Checked, sites: Mapping[str, Site], clusters: Collection[str]) -> Iterator[Ask]:
    """Yield the Workloads of every job of these clusters that is not retired, by team and name."""
    runs = {(resolved.run.team_name, resolved.run.job_name): resolved for resolved in checked.runs}
    errors: dict[tuple[str, str], set[str]] = {}
    for finding in checked.findings:
        if is_wrong(finding):
            errors.setdefault(about(finding), set()).add(finding.rule)
    for file in sorted(checked.specs.jobs, key=lambda one: (one.team, one.name)):
        if file.job.retired or file.job.cluster not in clusters:
            continue
        run = runs.get((file.team, file.name))
        wrong = errors.get((file.source.file, file.source.prefix), set())
        if run is None and wrong and wrong <= ROOM:
            run = resolve_job(checked.specs, file)
        yield ask(file, run, sites)


def resolve_job(specs: Specs, file: JobFile) -> Resolved | None:
    """Return the run of a job, whatever is wrong with it; None where it names what is not there."""
    run = run_of(specs, file)
    return resolve(run) if run is not None and is_known(run) else None


def ask(file: JobFile, run: Resolved | None, sites: Mapping[str, Site]) -> Ask:
    """Return the Workloads of a job, or the reason why it has none."""
    if run is None:
        return Ask(file, why="it cannot be rendered; run `trainyard check` for the reason")
    cluster = run.run.cluster
    scheduler = run.kind.admitted_by(cluster)
    if not admits(cluster, scheduler):
        return Ask(file, run, why=f"cluster {run.run.cluster_name!r} has no {scheduler.title()} queues")
    if (site := sites.get(run.run.cluster_name)) is None:
        return Ask(file, run, why="its cluster cannot be rendered; run `trainyard check` for the reason")
    return workloads_of(file, run, site)


def workloads_of(file: JobFile, run: Resolved, site: Site) -> Ask:
    """Return the Workloads of a run that Kueue admits, or why there are none."""
    there = [*site.classes, *run.run.runtimes.values()]
    found = bid(f"{file.team}/{file.name}", [item.value() for item in build(run)], there, site)
    return Ask(file, run, found.workloads, found.owners, found.beside, found.why, found.gang)


def with_change(ask: Ask, site: Site, other: Callable[[Job], Job]) -> Ask | None:
    """Return the Workloads of a job with other values of its fields, None where the values are invalid."""
    assert ask.run is not None
    try:
        run = resolve(replace(ask.run.run, job=other(ask.run.run.job)))
        return workloads_of(ask.file, run, site)
    except (KeyError, ValueError, ArithmeticError):
        return None


def has_error(findings: Iterable[Finding], file: JobFile) -> bool:
    """Whether an error is told of a job already."""
    here = (file.source.file, file.source.prefix)
    return any(is_wrong(finding) and about(finding) == here for finding in findings)


def is_wrong(finding: Finding) -> bool:
    """Whether a finding is an error, or one that stood at the base of a run that is there."""
    return finding.is_error or finding.frozen


def about(finding: Finding) -> tuple[str, str]:
    """Return the file that a finding is about, which is not the one that a change broke it with, and its prefix."""
    return (finding.spec or finding.location).file, prefix_of(finding.message)
