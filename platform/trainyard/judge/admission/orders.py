"""Jobs whose pods come to nodes after those of all others: Kueue admits several within a second, and they race.

How soon pods are there after that is the doing of the controllers of each kind. Only hosts that Kueue assigns are sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any

from trainyard.judge.admission.arrivals import Arrival
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.machines import Fit, Machines
from trainyard.judge.admission.site import Site
from trainyard.upstream.scheduler.together import LIKELY, Way

MOST = 10_000
"""Pods that are put on nodes to see it, each as often as the jobs can be halved: a second or two."""

WAYS = (LIKELY, Way(first="last"))
"""The pods of each job in the order of its roles, and the other way round."""


def last(where: Site, bids: Iterable[Bidder], answer: Mapping[str, Any]) -> dict[str, Fit]:
    """Return the fit of each job whose pods are placed last without assigned hosts; empty for too many jobs.

    Where the others leave nodes for all of its pods in one way and not in another, it is the latter.
    """
    machines = Machines.of(where)
    admitted = machines.admitted(bids, answer)
    there = {bid.name: machines.coming(bid, mine) for bid, mine in admitted}
    free = [name for name, pods in there.items() if any(pod.host is None for pod in pods)]
    if len(free) < 2 or sum(len(there[name]) for name in free) * log2(len(free)) > MOST:
        return {}
    race = Race(machines, {bid.name: bid for bid, _ in admitted}, there)
    for name in there.keys() - set(free):
        race.put(name, LIKELY)
    for way in WAYS:
        race.each(free, way)
    return race.found


@dataclass(frozen=True)
class Race:
    """Jobs that come to nodes, and what became of those that came last."""

    machines: Machines
    bids: Mapping[str, Bidder]
    there: Mapping[str, Sequence[Arrival]]
    """Their pods."""
    found: dict[str, Fit] = field(default_factory=dict)

    def put(self, name: str, way: Way) -> Fit:
        """Put the pods of a job on nodes."""
        return self.machines.bind(self.bids[name], self.there[name], way)

    def each(self, names: Sequence[str], way: Way) -> None:
        """Put each of these jobs on nodes after the others of them, and leave the nodes as they were."""
        nodes, half = self.machines.nodes, len(names) // 2
        mark = nodes.mark()
        if len(names) == 1:
            (name,) = names
            come = self.put(name, way)
            if name not in self.found or come.missing:
                self.found[name] = come
            nodes.back(mark)
            return
        for own, others in ((names[:half], names[half:]), (names[half:], names[:half])):
            for name in others:
                self.put(name, way)
            self.each(own, way)
            nodes.back(mark)
