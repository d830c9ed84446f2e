"""The runs that a cluster has before a change: they hold their quota, and new runs queue behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.judge.admission.changes import Decide, Outcomes, Side, extra_objects, remains, workloads
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.site import Site

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Before:
    """A cluster as the base has it."""

    runs: Mapping[str, str]
    """The name of the run of each job, `<team>/<job>`, that is there."""
    side: Callable[[], Side | None]
    """What Kueue knows of it, and its jobs; None where that cannot be told."""
    decide: Decide
    """Answers for Kueue."""


@dataclass(frozen=True)
class Queue:
    """The jobs of a cluster in the order in which they are queued, and the quota that some of them hold."""

    bids: Sequence[Bidder]
    held: Sequence[Object] = ()

    def decided(self, where: Site) -> Mapping[str, Any]:
        """Return Kueue's decision on all of them; as if all were new where it cannot start from what is held."""
        if self.held:
            case = {"workloads": workloads(self.bids), "beside": extra_objects(self.bids), "admitted": self.held}
            if "error" not in (answer := where.answered(case)):
                return answer
        return where.decided(workloads(self.bids), *extra_objects(self.bids), briefly=False)


def queue(
    bids: Sequence[Bidder], runs: Mapping[str, str], others: Collection[str], where: Site, before: Before | None
) -> Queue:
    """Return the queue of jobs; `runs` are the names of those that may be new, `others` are jobs that Kueue ignores.

    Runs of the base that are still there come first, and hold the quota that they got. Where what Kueue knows of the
    cluster changes, too, all runs are as new ones.
    """
    if before is None:
        return Queue(bids)
    begun = {job for job, run in runs.items() if before.runs.get(job) != run}
    ended = before.runs.keys() - {bid.name for bid in bids} - set(others)
    side = before.side() if begun or ended else None
    if side is None or not remains(side.where, where):
        return Queue(bids)
    old = Outcomes(side.where, side.bids, before.decide)
    stay = [bid for bid in bids if bid.name not in begun]
    return Queue([*stay, *(bid for bid in bids if bid.name in begun)], tuple(old.held_workloads(stay)))
