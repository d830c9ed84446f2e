"""What Kueue and the machines decide about all jobs of a cluster, as plans and `trainyard admit` tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from trainyard.change.plan.decide.sources import Jobs, Known
from trainyard.judge.admission import gangs, placed
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.changes import Decide, Outcomes, Side, outcomes
from trainyard.judge.admission.empty_nodes import Look, Outlook, alike, outlook
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
    def judged_jobs(self) -> list[Bidder]:
        """The jobs about which Kueue is asked."""
        return [ask for ask in self.asks if not ask.why and self.answer]

    @property
    def gangs(self) -> list[Bidder]:
        """The jobs that Volcano starts."""
        return [ask for ask in self.asks if ask.gang]

    def of(self, ask: Bidder) -> list[Answer]:
        """Return the answers to the Workloads of a job; none where nobody is asked."""
        if ask.gang:
            return [gangs.answer(ask, self.cluster.selectors, gangs.started_pods(self.fits.get(ask.name)))]
        return [] if ask.why or not self.answer else [self.answer["workloads"][key] for key in ask.keys]

    @cached_property
    def machines(self) -> Machines | None:
        """The nodes with the pods of all jobs that have quota."""
        return None if self.where is None else Machines.of(self.where)

    @cached_property
    def fits(self) -> Mapping[str, Fit]:
        """The nodes of each job's pods, by the job's name; of those that Volcano starts as if the first came first."""
        if self.machines is None:
            return {}
        return {**self.machines.fill(self.judged_jobs, self.answer), **gangs.fill(self.gangs, self.machines)}

    def word(self, ask: Bidder) -> Word:
        """Return the verdict on a job; if a pod finds no node, the job waits, may fit or never fits."""
        if self.outcomes is None or not is_judged(ask):
            return "not judged"
        fit, word = self.fits.get(ask.name), self.outcomes.word(ask)
        lacks = bool(fit.missing) if fit is not None else bool(ask.gang) and word.startswith("fits")
        return "waits for" if lacks and word != "never fits" else word

    def perhaps(self, ask: Bidder) -> str:
        """Return the lack of a job that may fit, where kube-scheduler takes other nodes."""
        return self.outcomes.outlook(ask).perhaps if self.outcomes and self.word(ask) == "may fit" else ""

    def detail(self, ask: Bidder) -> str:
        """Return why a job waits, or why nobody is asked."""
        fit = self.fits.get(ask.name)
        if self.word(ask) == "waits for":
            if self.machines is not None and fit is not None and fit.missing:
                return placed.lack(fit) + placed.holders(fit, self.machines, ask.name)
            if ask.gang:
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
    first, then = (Side(side.where, side.bids, looking(side.where)) for side in (old, new) if side.where is not None)
    past, present, _ = outcomes(first, then, begun, decide)
    return decided(old, past), decided(new, present)


def decide_alone(asked: Asked | None, decide: Decide) -> Decided | None:
    """Return the decisions on jobs that are all submitted at once."""
    if asked is None or asked.where is None:
        return None if asked is None else decided(asked, None)
    return decided(asked, Outcomes(asked.where, asked.bids, decide, look=looking(asked.where)))


def decided(asked: Asked, found: Outcomes | None) -> Decided:
    """Return the decisions on what jobs ask for."""
    return Decided(asked.cluster, asked.whole, found, asked.idle, asked.runs)


def looking(where: Site) -> Look:
    """Return a look at pods on the empty nodes of a cluster, which looks once at pods that are the same to it."""
    found: dict[str, Outlook] = {}
    machines = cache(lambda: Machines.of(where))

    def look(bid: Bidder) -> Outlook:
        same = alike(bid)
        if same not in found:
            found[same] = outlook(bid, machines())
        return found[same]

    return look
