"""All jobs of a cluster together, and each of them alone: what Kueue and the machines make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from trainyard.judge.admission import gangs, nominal, orders, placed
from trainyard.judge.admission.asks import Ask
from trainyard.judge.admission.before import Queue
from trainyard.judge.admission.change import Change
from trainyard.judge.admission.competitors import Others
from trainyard.judge.admission.empty_nodes import alike
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.machines import Fit, Machines
from trainyard.judge.admission.outcomes import has_pods, holds
from trainyard.judge.admission.site import Site

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Alone:
    """What becomes of a job that has the cluster to itself."""

    answer: Answer
    """Kueue's."""
    said: Sequence[Answer]
    """What it says of each Workload, nothing where it does not survive."""


@dataclass(frozen=True)
class Crowd:
    """All jobs of a cluster that Kueue is asked about, and what becomes of them together."""

    where: Site
    asks: Sequence[Bidder]
    answer: Answer
    """Kueue's."""
    empty: Machines
    full: Machines
    fits: Mapping[str, Fit]
    """By job, where its pods are."""
    known: dict[str, Alone] = field(default_factory=dict)
    taken: dict[str, bool] = field(default_factory=dict)
    """By what jobs ask, whether the empty cluster has what they need."""
    nearest: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    """By what jobs ask, the nearest changes with which they fit."""

    @staticmethod
    def of(where: Site, there: Queue) -> Crowd:
        """Have Kueue and the machines decide on all jobs at once."""
        asks, answer = there.bids, there.decided(where)
        empty, full = Machines.of(where), Machines.of(where)
        return Crowd(where, asks, answer, empty, full, {} if "error" in answer else full.fill(asks, answer))

    @cached_property
    def others(self) -> Others[Bidder]:
        """The jobs by what one of them waits for."""
        return Others(self.asks, self.answer)

    @cached_property
    def last(self) -> dict[str, Fit]:
        """By job, what becomes of its pods where they come last, of jobs to which Kueue assigns no hosts."""
        return orders.last(self.where, self.asks, self.answer)

    @cached_property
    def opened(self) -> Crowd | None:
        """The same jobs with all queues open, None where none is held."""
        return Crowd.of(self.where.opened, Queue(self.asks)) if self.where.opened else None

    def only(self, ask: Ask) -> Crowd:
        """Return the same cluster with a job on it that has it to itself."""
        answer = self.where.decided(ask.workloads, *ask.beside, briefly=False)
        mine = [] if "error" in answer else workload_answers(ask, answer)
        there = bool(mine) and all(map(has_pods, mine))
        fits = {ask.name: self.empty.likely(ask, mine)} if there else {}
        return replace(self, asks=[ask], answer=answer, full=self.empty, fits=fits)

    def alone(self, ask: Bidder) -> Alone:
        """Return Kueue's answer about a job on the empty cluster; jobs with equal requests share it."""
        shape = ask.shape
        if shape not in self.known:
            answer = self.where.decided(ask.workloads, *ask.beside)
            self.known[shape] = Alone(answer, [] if "error" in answer else workload_answers(ask, answer))
        return self.known[shape]

    def takes(self, ask: Ask) -> bool:
        """Whether a job gets what it needs on the empty cluster: quota, and nodes whichever are taken first."""
        same = alike(ask)
        if same not in self.taken:
            self.taken[same] = self._takes(ask)
        return self.taken[same]

    def _takes(self, ask: Ask) -> bool:
        if ask.gang:
            fit = None if gangs.queue_limits(ask, self.where) else gangs.alone(ask, self.empty)
        else:
            mine = self.alone(ask).said
            fit = self.empty.alone(ask, mine) if mine and all(map(holds, mine)) else None
        return fit is not None and not fit.missing and fit.otherwise is None

    def hopeless(self, ask: Bidder) -> bool:
        """Whether a job gets no quota even on the empty cluster."""
        return not all(map(holds, self.alone(ask).said))

    def lack(self, ask: Bidder) -> str:
        """Return the reason why no node takes a job's pods while all others have theirs, in any order."""
        anywhere = [
            {**item, "podSets": [{**one, "topology": None} for one in item.get("podSets", ())]}
            for item in self.alone(ask).said
        ]
        fit = self.full.alone(ask, anywhere)
        return placed.obstacles(fit.missing[0][1], one=False) if fit.missing else ""

    def first(self, ask: Bidder) -> list[Answer]:
        """Return Kueue's first answer about a job alone; later ones name only the last flavor tried."""
        answer = self.where.nominated(ask.workloads, *ask.beside)
        return (
            []
            if "error" in answer
            else [
                workload_answer.get("nomination") or workload_answer
                for workload_answer in workload_answers(ask, answer)
            ]
        )

    def nominal(self, queue: str, asks: Sequence[Ask]) -> Iterator[tuple[Ask, Sequence[Answer]]]:
        """Yield Kueue's answers about these jobs while all other queues of their cohorts use their nominal quota.

        Nothing is yielded where the queue has no others beside it. A job that borrows nothing while it is alone gets
        the same then, for nobody of these borrows of it.
        """
        held, admitted = nominal.peers(self.where, queue)
        if not held:
            return
        borrowers: dict[str, list[Ask]] = {}
        for ask in asks:
            own = self.alone(ask).said
            if any(item.get("borrowing") for item in own):
                borrowers.setdefault(ask.shape, []).append(ask)
            else:
                yield ask, own
        if borrowers:
            with self.where.prepared.beside(held, admitted):
                for ask, *others in borrowers.values():
                    answer = self.where.decided(ask.workloads, *ask.beside)
                    found = [] if "error" in answer else workload_answers(ask, answer)
                    yield from ((other, found) for other in (ask, *others))


def workload_answers(ask: Bidder, answer: Answer) -> list[Answer]:
    """Return Kueue's answer to each Workload of a job."""
    return [answer["workloads"][key] for key in ask.keys]
