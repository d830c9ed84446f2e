"""All jobs of a cluster together, and each of them alone: what Kueue and the machines make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.admission import nominal
from trainyard.admission.asks import Ask
from trainyard.admission.machines import Fit, Machines
from trainyard.admission.site import Site

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Crowd:
    """All jobs of a cluster that Kueue is asked about, and what becomes of them together."""

    where: Site
    asks: Sequence[Ask]
    answer: Answer
    """Kueue's."""
    empty: Machines
    full: Machines
    fits: Mapping[str, Fit]
    """By job, where its pods are."""

    @staticmethod
    def of(where: Site, asks: Sequence[Ask]) -> Crowd:
        """Have Kueue and the machines decide on all jobs at once."""
        workloads = [one for each in asks for one in each.workloads]
        answer = where.decided(workloads, *(one for each in asks for one in each.beside), briefly=False)
        empty, full = Machines.of(where), Machines.of(where)
        return Crowd(where, asks, answer, empty, full, {} if "error" in answer else full.fill(asks, answer))

    def nominal(self, queue: str, asks: Sequence[Ask]) -> Iterator[tuple[Ask, list[Answer]]]:
        """Yield what each of these jobs gets while all others of their queue's cohorts are at nominal quota.

        Nothing is yielded where the queue has no others beside it.
        """
        held, admitted = nominal.peers(self.where, queue)
        if not held:
            return
        with self.where.prepared.beside(held, admitted):
            for ask in asks:
                answer = self.where.decided(ask.workloads, *ask.beside)
                yield ask, [] if "error" in answer else said(ask, answer)


def said(ask: Ask, answer: Answer) -> list[Answer]:
    """Return Kueue's answer to each Workload of a job."""
    return [answer["workloads"][key] for key in ask.keys]


def admitted(answer: Answer) -> bool:
    """Whether the pods of a Workload are there: it has quota, and no admission check is waited for."""
    return bool(answer["outcome"] == "admitted")
