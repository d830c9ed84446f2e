"""What a change of a cluster does to Kueue's decisions: about the runs that it starts, and about all others there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from trainyard.judge.admission import gangs, placed, reasons
from trainyard.judge.admission.competitors import Others
from trainyard.judge.admission.empty_nodes import Look, Outlook, unseen
from trainyard.judge.admission.inactive_queues import closed_queue
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.outcomes import Word, fit_of, holds, restless, victims_of
from trainyard.judge.admission.site import Site

Answer = Mapping[str, Any]
Decide = Callable[[Site, Mapping[str, Any]], Answer]
"""Answers what a case asks of Kueue on a cluster."""

By = Literal["kueue", "volcano", "machines"]
"""Who says what becomes of a job: whose queue it is in, or the nodes that have no place for what that gives quota."""

WAITS = frozenset({"waits for", "does not settle"})


@dataclass(frozen=True)
class Side:
    """A cluster before or after a change: what Kueue knows of it, and the jobs there, the oldest first."""

    where: Site
    bids: Sequence[Bidder]
    look: Look = unseen
    """What becomes of the pods of its jobs on its machines."""


@dataclass(frozen=True)
class Turn:
    """What becomes of one job; before the change, where it was there."""

    name: str
    before: Word | None
    after: Word
    detail: str
    """The witness or the reason, in few words."""
    victims: tuple[str, ...] = ()
    """The jobs that it preempts."""
    by: By = "kueue"
    perhaps: str = ""
    """What it may wait for even alone, as the scheduler chooses nodes; nothing where it finds some in any case."""


@dataclass(frozen=True)
class Decided:
    """What becomes of the jobs of a cluster."""

    words: Mapping[str, Word]
    """By job, after the change."""
    past: Mapping[str, Word]
    """By job that was there, before the change."""
    turns: tuple[Turn, ...]
    """Of the jobs that the change starts, and of others to which it makes a difference."""


def outcomes(
    before: Side | None, after: Side, begun: Collection[str], decide: Decide
) -> tuple[Outcomes | None, Outcomes, bool]:
    """Return the outcomes of all jobs before and after a change, and whether Kueue's objects stay the same.

    Before the change all jobs were submitted at once. As long as it leaves alone what Kueue knows of the cluster, those
    that had quota then hold it still, and new runs queue behind those that wait; otherwise all are submitted anew.
    """
    stays = before is not None and remains(before.where, after.where)
    old = Outcomes(before.where, before.bids, decide, look=before.look) if before is not None else None
    first = [bid for bid in after.bids if not stays or bid.name not in begun]
    last = [bid for bid in after.bids if stays and bid.name in begun]
    held = old.held_workloads(after.bids) if old is not None and stays else ()
    return old, Outcomes(after.where, [*first, *last], decide, held, after.look, begun), stays


def decide_change(before: Side | None, after: Side, begun: Collection[str], decide: Decide) -> Decided:
    """Return the verdicts that follow from a change which starts the runs of some jobs."""
    old, new, stays = outcomes(before, after, begun, decide)
    words = {bid.name: new.word(bid) for bid in after.bids}
    own = {bid.name: bid for bid in before.bids} if before is not None else {}
    jobs = {key: bid.name for bid in after.bids for key in bid.keys}
    found, taken = [], set[str]()
    for bid in after.bids:
        if bid.name in begun:
            victims = tuple(dict.fromkeys(jobs.get(key, key) for key in new.victims(bid)))
            taken.update(victims)
            found.append(new.turn(bid, None, victims))
    past = {name: old.word(value) for name, value in own.items()} if old is not None else {}
    for bid in after.bids:
        word, by = words[bid.name], new.by(bid)
        if stays and word == "never fits" and by == "kueue" and bid.name in past and bid.name not in begun:
            past[bid.name] = new.by_kueue(own[bid.name])
        was = past.get(bid.name, word)
        if sort(was) != sort(word) and bid.name not in begun and bid.name not in taken:
            found.append(new.turn(bid, was))
    return Decided(words, past, tuple(found))


def remains(before: Site, after: Site) -> bool:
    """Whether everything that Kueue knew of a cluster is there as it was."""
    if before is after:
        return True
    there = {place(obj): seen_by_kueue(obj) for obj in after.objects}
    return (before.release, before.config) == (after.release, after.config) and all(
        there.get(place(obj)) == seen_by_kueue(obj) for obj in before.objects
    )


def seen_by_kueue(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of an object that Kueue reads: of a namespace only its labels."""
    return value["metadata"].get("labels") or {} if value["kind"] == "Namespace" else value


def place(value: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return kind, namespace and name of an object."""
    return value["kind"], value["metadata"].get("namespace") or "", value["metadata"]["name"]


def sort(word: Word) -> str:
    """Return the sort of a verdict: whether a job trains, waits or never fits."""
    return "fits" if word.startswith("fits") else "waits" if word in WAITS else word


class Outcomes:
    """What becomes of the jobs of a cluster that are there together."""

    def __init__(
        self,
        where: Site,
        bids: Sequence[Bidder],
        decide: Decide,
        admitted: Iterable[Answer] = (),
        look: Look = unseen,
        begun: Collection[str] = (),
    ) -> None:
        self.where, self.decide, self.look = where, decide, look
        self.bids = [bid for bid in bids if not bid.why]
        asked = {"workloads": workloads(self.bids), "beside": extra_objects(self.bids)}
        held = list(admitted)
        self.together = decide(where, {**asked, "admitted": held}) if self.bids else {}
        if "error" in self.together and held:
            self.together = decide(where, asked)
        self.others = Others(self.bids, self.together, begun)
        self.gangs = [bid for bid in bids if bid.gang]
        self._alone: dict[str, list[Answer]] | None = None
        self._details: dict[str, str] = {}
        self._words: dict[tuple[str, ...], Word] = {}

    def held_workloads(self, bids: Iterable[Bidder]) -> Iterator[Answer]:
        """Yield the admitted Workloads of jobs in the form of a case, with the quota that they hold."""
        mine = {key for bid in self.bids for key in bid.keys}
        for key in (key for bid in bids for key in bid.keys if key in mine):
            answer = self.together.get("workloads", {}).get(key)
            if answer is not None and holds(answer):
                sets = {pod_set["name"]: held_by(pod_set) for pod_set in answer.get("podSets", ())}
                yield {"workload": key, "clusterQueue": answer["clusterQueue"], "podSets": sets}

    def answers(self, bid: Bidder) -> list[Answer]:
        """Return Kueue's answers about a job among all others."""
        return self.others.answers(bid)

    def word(self, bid: Bidder) -> Word:
        """Return the verdict on a job: it never fits if no node ever takes its pods, whatever Kueue decides."""
        word, outlook = self.queued(bid), self.outlook(bid)
        if outlook.never:
            return "never fits"
        if outlook.perhaps and word.startswith("fits"):
            return "may fit"
        return gangs.word(bid, self.where, outlook.pods) if bid.gang and word == "fits" else word

    def by(self, bid: Bidder) -> By:
        """Return the decider of a job's word: Kueue, Volcano, or machines."""
        return self.scheduler(bid) if sort(self.word(bid)) == sort(self.queued(bid)) else "machines"

    def scheduler(self, bid: Bidder) -> By:
        """Return the scheduler of a job's queue."""
        return "volcano" if bid.gang else "kueue"

    def outlook(self, bid: Bidder) -> Outlook:
        """Return the outlook of a job's pods on empty nodes, empty where it never gets quota."""
        return Outlook() if self.queued(bid) in {"never fits", "not judged"} else self.look(bid)

    def turn(self, bid: Bidder, before: Word | None, victims: tuple[str, ...] = ()) -> Turn:
        """Return the verdict on a job before and after, with its detail."""
        perhaps = self.outlook(bid).perhaps
        return Turn(bid.name, before, self.word(bid), self.detail(bid), victims, self.by(bid), perhaps)

    def queued(self, bid: Bidder) -> Word:
        """Return the verdict of the scheduler that owns the job's queue."""
        return self.by_volcano(bid) if bid.gang else self.by_kueue(bid)

    @cached_property
    def full(self) -> Mapping[str, str]:
        """By queue of Volcano's, why it has no room for all of its jobs at one time."""
        return gangs.full(self.gangs, self.where)

    def by_volcano(self, bid: Bidder) -> Word:
        """Return Volcano's verdict on a job that is alone in its queue."""
        if gangs.queue_limits(bid, self.where):
            return "never fits"
        return "fits alone" if len(self.gangs) > 1 else "fits"

    def by_kueue(self, bid: Bidder) -> Word:
        """Return Kueue's verdict on a job."""
        if bid.why or "error" in self.together:
            return "not judged"
        key = tuple(bid.keys)
        if key not in self._words:
            self._words[key] = self._said(bid)
        return self._words[key]

    def _said(self, bid: Bidder) -> Word:
        mine = self.answers(bid)
        if all(map(holds, mine)):
            return fit_of(bid, self.where, self.others)[0]
        shut = closed_queue(self.together, mine)
        if shut.lasts if shut else self.hopeless(bid):
            return "never fits"
        return "does not settle" if restless(self.together, mine) else "waits for"

    def detail(self, bid: Bidder) -> str:
        """Return the witness or the reason; jobs that ask for the same get the same."""
        if bid.gang:
            return self._of_gang(bid)
        if bid.why or "error" in self.together:
            return bid.why or f"Kueue crashes: {self.together['error']}"
        outlook = self.outlook(bid)
        if outlook.never:
            return outlook.never
        if all(map(holds, self.answers(bid))):
            found = fit_of(bid, self.where, self.others)[1]
            return placed.perhaps(found, outlook.perhaps) if self.word(bid) == "may fit" else found
        shape = bid.shape
        if shape not in self._details:
            self._details[shape] = self._reason(bid)
        return self._details[shape]

    def _of_gang(self, bid: Bidder) -> str:
        outlook, others = self.outlook(bid), [gang.name for gang in self.gangs if gang.name != bid.name]
        fits = gangs.witness(bid, self.where, outlook.pods) + gangs.order_note(bid, others, self.full)
        fits = placed.perhaps(fits, outlook.perhaps) if outlook.perhaps else fits
        return gangs.queue_limits(bid, self.where) or outlook.never or fits

    def _reason(self, bid: Bidder) -> str:
        mine, alone = self.answers(bid), self.alone(bid)
        if shut := closed_queue(self.together, mine):
            return shut.text
        if all(map(fits, alone)):
            return reasons.waiting(bid, alone, self.others, self.hopeless)
        return reasons.kueue_reason(alone) or "no flavor matches its pods"

    def hopeless(self, bid: Bidder) -> bool:
        """Whether a job that waits gets no quota even on the empty cluster."""
        return not all(map(fits, self.alone(bid)))

    def victims(self, bid: Bidder) -> list[str]:
        """Return the Workloads that a job preempts."""
        return victims_of(self.answers(bid)) if not bid.why and "error" not in self.together else []

    def alone(self, bid: Bidder) -> list[Answer]:
        """Return Kueue's answers about a job's Workloads on the empty cluster; jobs with equal requests share them."""
        if self._alone is None:
            waiting = [bidder for bidder in self.bids if not all(map(holds, self.answers(bidder)))]
            one_each = {bidder.shape: bidder for bidder in waiting}
            asked = {
                "mode": "nominate",
                "workloads": workloads(one_each.values()),
                "beside": extra_objects(one_each.values()),
            }
            said = self.decide(self.where, asked).get("workloads", {}) if one_each else {}
            self._alone = {
                shape: [{**said[key], **said[key].get("nomination", {})} for key in bidder.keys]
                for shape, bidder in one_each.items()
            }
        return self._alone[bid.shape]


def workloads(bids: Iterable[Bidder]) -> list[Any]:
    """Return the Workloads of jobs."""
    return [workload for bid in bids for workload in bid.workloads]


def extra_objects(bids: Iterable[Bidder]) -> list[Any]:
    """Return the objects that Kueue reads beside the Workloads of jobs."""
    return [one for bid in bids for one in bid.beside]


def held_by(pod_set: Answer) -> dict[str, Any]:
    """Return the assignment of a pod set in the form of a case."""
    domains = (pod_set.get("topology") or {}).get("domains")
    return {
        "count": pod_set["count"],
        "flavors": pod_set.get("flavors", {}),
        **({"domains": domains} if domains else {}),
    }


def fits(nominated: Answer) -> bool:
    """Whether a Workload gets quota on the empty cluster."""
    return nominated.get("mode") == "Fit"
