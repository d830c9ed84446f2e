"""What Kueue and the machines decide about all jobs of a cluster, as plans and `trainyard admit` tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainyard.admission import placed
from trainyard.admission.alone import alike, lack
from trainyard.admission.asks import Ask, asks
from trainyard.admission.changes import Outcomes, Side, outcomes
from trainyard.admission.machines import Fit, Machines
from trainyard.admission.outcomes import Word
from trainyard.admission.site import Site, admits, site
from trainyard.preflight import Checked
from trainyard.specs import Cluster

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Decided:
    """One cluster on one side of a change, what its jobs ask for, and what becomes of them."""

    cluster: Cluster
    asks: tuple[Ask, ...]
    outcomes: Outcomes | None = None
    """None where Kueue admits nothing there."""
    idle: int = 0
    """Programs that make jobs and were not run."""
    lacks: dict[str, str] = field(default_factory=dict)
    """What keeps pods from empty nodes, of jobs that are the same to them."""

    @property
    def where(self) -> Site | None:
        """What Kueue knows of the cluster."""
        return None if self.outcomes is None else self.outcomes.where

    @property
    def answer(self) -> Answer:
        """Kueue's answer about all jobs at once; nothing where there is none."""
        return {} if self.outcomes is None or "error" in self.outcomes.together else self.outcomes.together

    @property
    def asked(self) -> list[Ask]:
        """The jobs about which Kueue is asked."""
        return [each for each in self.asks if not each.why and self.answer]

    def of(self, ask: Ask) -> list[Answer]:
        """Return the answers to the Workloads of a job; none where Kueue is not asked."""
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
        """The nodes of each job's pods, by the job's name."""
        return {} if self.machines is None else self.machines.fill(self.asked, self.answer)

    def word(self, ask: Ask) -> Word:
        """Return what becomes of a job: where a pod of it finds no node it waits, or never fits."""
        if self.outcomes is None or ask.why:
            return "not judged"
        fit = self.fits.get(ask.name)
        word = "waits for" if fit is not None and fit.missing else self.outcomes.word(ask)
        return "never fits" if word == "waits for" and self.lack(ask) else word

    def lack(self, ask: Ask) -> str:
        """Return what keeps pods of a job from nodes while it has them to itself; nothing where they find some."""
        if self.empty is None:
            return ""
        same = alike(ask)
        if same not in self.lacks:
            self.lacks[same] = lack(ask, self.empty)
        return self.lacks[same]

    def detail(self, ask: Ask) -> str:
        """Return why a job waits, or why nobody is asked."""
        fit = self.fits.get(ask.name)
        if self.word(ask) == "never fits" and (why := self.lack(ask)):
            return why
        if self.machines is not None and fit is not None and fit.missing:
            return placed.lack(fit) + placed.holders(fit, self.machines, ask.name)
        return self.outcomes.detail(ask) if self.outcomes is not None else ask.why


def decide(before: Checked | None, now: Checked, name: str) -> tuple[Decided | None, Decided | None]:
    """Return what is decided on a cluster before a change and after it, None on a side that does not declare it.

    What has quota before holds it, where the change leaves alone what Kueue knows of the cluster, as in plans.
    """
    old = asked(before, name) if before is not None else None
    new = asked(now, name)
    if old is None or new is None or old[1] is None or new[1] is None:
        return settled(before, name, old), settled(now, name, new)
    (one, was), (two, there) = (old[0], old[1]), (new[0], new[1])
    runs = {each.name: run_of(each) for each in one}
    begun = {each.name for each in two if runs.get(each.name, "") != run_of(each)}
    past, present, _ = outcomes(Side(was, one), Side(there, two), begun, Site.answered)
    idle = len(now.idle)
    return Decided(was.cluster, one, past, idle), Decided(there.cluster, two, present, idle)


def run_of(ask: Ask) -> str:
    """Return the name of a job's run, nothing where it cannot be rendered."""
    return ask.run.run.name if ask.run is not None else ""


def asked(checked: Checked, name: str) -> tuple[tuple[Ask, ...], Site | None] | None:
    """Return what jobs of a cluster ask for, and what Kueue knows of it; None where no such cluster is declared."""
    cluster = checked.specs.clusters.get(name)
    if cluster is None:
        return None
    where = site(checked.specs, name) if admits(cluster) else None
    return tuple(asks(checked, {name: where} if where else {}, [name])), where


def settled(checked: Checked | None, name: str, said: tuple[tuple[Ask, ...], Site | None] | None) -> Decided | None:
    """Return what becomes of jobs that are all submitted at once."""
    if checked is None or said is None:
        return None
    found, where = said
    mine = None if where is None else Outcomes(where, found, Site.answered)
    return Decided(checked.specs.clusters[name], found, mine, len(checked.idle))
