"""What Kueue and the machines decide about all jobs of a cluster, as plans and `trainyard admit` tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainyard.change.plan.decide.sources import Jobs, Known
from trainyard.judge.admission import gangs, placed
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.changes import Decide, Outcomes, Side, outcomes
from trainyard.judge.admission.empty_nodes import Outlook, alike, outlook
from trainyard.judge.admission.job_workloads import Bidder, is_judged
from trainyard.judge.admission.machines import Fit, Machines
from trainyard.judge.admission.outcomes import Word
from trainyard.judge.admission.site import Site, admits, site
from trainyard.judge.admission.verdicts import Standing, together
from trainyard.judge.preflight import Checked
from trainyard.specs import Cluster

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Decided:
    """One cluster on one side of a change, what its jobs ask for, and what becomes of them."""

    cluster: Cluster
    asks: tuple[Bidder, ...]
    outcomes: Outcomes | None = None
    """None where Kueue admits nothing there."""
    idle: int = 0
    """Programs that make jobs and were not run."""
    outlooks: dict[str, Outlook] = field(default_factory=dict)
    """What becomes of pods on empty nodes, of jobs that are the same to them."""
    runs: Mapping[str, str] = field(default_factory=dict)
    """By job, the name of its run, where it has one."""

    @property
    def where(self) -> Site | None:
        """What Kueue knows of the cluster."""
        return None if self.outcomes is None else self.outcomes.where

    @property
    def answer(self) -> Answer:
        """Kueue's answer about all jobs at once; nothing where there is none."""
        return {} if self.outcomes is None or "error" in self.outcomes.together else self.outcomes.together

    @property
    def asked(self) -> list[Bidder]:
        """The jobs about which Kueue is asked."""
        return [ask for ask in self.asks if not ask.why and self.answer]

    @property
    def gangs(self) -> list[Bidder]:
        """The jobs that Volcano starts."""
        return [ask for ask in self.asks if ask.gang]

    def of(self, ask: Bidder) -> list[Answer]:
        """Return the answers to the Workloads of a job; none where nobody is asked."""
        if ask.gang:
            return [gangs.answer(ask, gangs.started_pods(self.fits.get(ask.name)))]
        return [] if ask.why or not self.answer else [self.answer["workloads"][key] for key in ask.keys]

    @cached_property
    def machines(self) -> Machines | None:
        """The nodes with the pods of all jobs that have quota."""
        return None if self.where is None else Machines.of(self.where)

    @cached_property
    def empty(self) -> Machines | None:
        """The nodes without any pods of jobs."""
        return None if self.where is None else Machines.of(self.where)

    @cached_property
    def fits(self) -> Mapping[str, Fit]:
        """The nodes of each job's pods, by the job's name; of those that Volcano starts as if the first came first."""
        if self.machines is None:
            return {}
        return {**self.machines.fill(self.asked, self.answer), **gangs.fill(self.gangs, self.machines)}

    def word(self, ask: Bidder) -> Word:
        """Return the verdict on a job; if a pod finds no node, the job waits, may fit or never fits."""
        if self.outcomes is None or not is_judged(ask):
            return "not judged"
        fit = self.fits.get(ask.name)
        word = "waits for" if fit is not None and fit.missing else self.outcomes.word(ask)
        word = "waits for" if ask.gang and fit is None and word.startswith("fits") else word
        if word == "waits for" and self.outlook(ask).never:
            return "never fits"
        return "may fit" if word.startswith("fits") and self.outlook(ask).perhaps else word

    def outlook(self, ask: Bidder) -> Outlook:
        """Return the outlook of an admitted job's pods on empty nodes."""
        if self.empty is None:
            return Outlook()
        same = alike(ask)
        if same not in self.outlooks:
            self.outlooks[same] = outlook(ask, self.empty)
        return self.outlooks[same]

    def detail(self, ask: Bidder) -> str:
        """Return why a job waits, or why nobody is asked."""
        fit = self.fits.get(ask.name)
        if self.word(ask) == "never fits" and (why := self.outlook(ask).never):
            return why
        if self.machines is not None and fit is not None and fit.missing:
            return placed.lack(fit) + placed.holders(fit, self.machines, ask.name)
        if ask.gang and self.word(ask) == "waits for":
            return f"room in queue {gangs.queue_of(ask)} if Volcano starts other jobs first"
        return self.outcomes.detail(ask) if self.outcomes is not None else ask.why


@dataclass(frozen=True)
class Asked:
    """A cluster on one side of a change, and what its jobs ask for."""

    cluster: Cluster
    where: Site | None
    bids: Sequence[Bidder]
    """What they ask of Kueue."""
    whole: tuple[Bidder, ...]
    """The same with all by which nodes decide."""
    runs: Mapping[str, str]
    idle: int = 0


def decide(now: Checked, name: str, standing: Standing | None = None) -> Decided | None:
    """Return the decisions on all declared jobs of a cluster, None where the cluster is not declared."""
    return decide_alone(declared(now, name, standing), Site.answered)


def declared(checked: Checked, name: str, standing: Standing | None = None) -> Asked | None:
    """Return the requests of the declared jobs of a cluster, None where the cluster is not declared.

    Steps of pipelines are left out: none is there before somebody starts it. `standing` are the runs of programs that
    were not run, None where nobody looked for them.
    """
    cluster = checked.specs.clusters.get(name)
    if cluster is None:
        return None
    where = site(checked.specs, name) if admits(cluster) else None
    mine = [ask for ask in asks(checked, {name: where} if where else {}, [name]) if not ask.later]
    found = tuple(together(mine, (standing or {}).get(name, {}), where) if where is not None else mine)
    runs = {ask.name: ask.run.run.name for ask in mine if ask.run is not None}
    return Asked(cluster, where, found, found, runs, len(checked.idle) if standing is None else 0)


def compare(known: Known, name: str) -> tuple[Decided | None, Decided | None]:
    """Return the decisions on a cluster before and after a change, None on a side that does not declare it.

    What has quota before holds it, where the change leaves alone what Kueue knows of the cluster, as in plans.
    """
    before, after = known.jobs(name)
    return between(of_jobs(before), of_jobs(after), known.decide())


def of_jobs(jobs: Jobs | None) -> Asked | None:
    """Return the requests of the jobs of a tree."""
    return None if jobs is None else Asked(jobs.cluster, jobs.where, jobs.bids, jobs.whole, jobs.runs)


def between(old: Asked | None, new: Asked | None, decide: Decide) -> tuple[Decided | None, Decided | None]:
    """Return the decisions on a cluster before and after a change."""
    if old is None or new is None or old.where is None or new.where is None:
        return decide_alone(old, decide), decide_alone(new, decide)
    begun = {name for name, run in new.runs.items() if old.runs.get(name, "") != run}
    past, present, _ = outcomes(Side(old.where, old.bids), Side(new.where, new.bids), begun, decide)
    return (
        Decided(old.cluster, old.whole, past, old.idle, runs=old.runs),
        Decided(new.cluster, new.whole, present, new.idle, runs=new.runs),
    )


def decide_alone(asked: Asked | None, decide: Decide) -> Decided | None:
    """Return the decisions on jobs that are all submitted at once."""
    if asked is None:
        return None
    mine = None if asked.where is None else Outcomes(asked.where, asked.bids, decide)
    return Decided(asked.cluster, asked.whole, mine, asked.idle, runs=asked.runs)
