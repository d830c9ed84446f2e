"""The jobs of a cluster that are there together, looked up by what one of them waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.words import some

Answer = Mapping[str, Any]
Job = TypeVar("Job", bound=Bidder)


class Others(Generic[Job]):
    """Jobs in their order, and Kueue's answer about all of them; those in `begun` are named before others."""

    def __init__(self, bids: Sequence[Job], answer: Answer, begun: Collection[str] = ()) -> None:
        self.bids, self.answer, self.begun = bids, answer, frozenset(begun)
        self._holding: dict[frozenset[str], list[str]] = {}

    def answers(self, bid: Bidder) -> list[Answer]:
        """Return Kueue's answer about each Workload of a job."""
        return [self.answer["workloads"][key] for key in bid.keys]

    @cached_property
    def names(self) -> dict[str, str]:
        """The job of each Workload."""
        return {key: bid.name for bid in self.bids for key in bid.keys}

    @cached_property
    def looked_at(self) -> dict[str, list[Job]]:
        """By queue, the jobs that wait there and that Kueue has looked at."""
        found: dict[str, list[Job]] = {}
        for bid in self.bids:
            waiting = [answer for answer in self.answers(bid) if "podSets" not in answer and messages([answer])]
            for queue in {answer.get("clusterQueue") or "" for answer in waiting}:
                found.setdefault(queue, []).append(bid)
        return found

    @cached_property
    def flavors(self) -> dict[str, frozenset[str]]:
        """By job, the flavors that it got."""
        return {bid.name: frozenset(flavors(self.answers(bid))) for bid in self.bids}

    def first(self, queue: str, own: str) -> Job | None:
        """Return the first other job that waits in a queue and that Kueue has looked at."""
        return next((item for item in self.looked_at.get(queue, ()) if item.name != own), None)

    def holding(self, wanted: Collection[str], own: str) -> list[str]:
        """Return the other jobs that hold quota of flavors."""
        key = frozenset(wanted)
        if key not in self._holding:
            found = [name for name, got in self.flavors.items() if not got.isdisjoint(key)]
            self._holding[key] = sorted(found, key=lambda name: name not in self.begun) if self.begun else found
        return [name for name in self._holding[key] if name != own]

    def job_names(self, keys: Iterable[str]) -> str:
        """Return the jobs of Workloads, or the Workloads where they are nobody's."""
        return some(list(dict.fromkeys(self.names.get(key, key) for key in keys)))


def messages(answers: Iterable[Answer]) -> list[str]:
    """Return Kueue's messages about Workloads, each once."""
    found = [one for answer in answers for one in (answer.get("message"), *answer.get("messages", ())) if one]
    return list(dict.fromkeys(found))


def flavors(answers: Iterable[Answer]) -> set[str]:
    """Return the flavors that a job gets."""
    return {name for answer in answers for one in answer.get("podSets", ()) for name in one.get("flavors", {}).values()}
