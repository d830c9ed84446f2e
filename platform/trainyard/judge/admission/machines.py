"""The second look at a verdict: which nodes take the pods of jobs that have quota, as scheduler and kubelets decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.judge.admission import bound
from trainyard.judge.admission.arrivals import Arrival, arrivals
from trainyard.judge.admission.inventory import per_host, together
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.site import Site
from trainyard.render.sizing.starts import node
from trainyard.specs import Cluster
from trainyard.upstream.kubelet import Invalid, Kubelet
from trainyard.upstream.kubelet.kubelet import WELL_KNOWN
from trainyard.upstream.pods.taints import Taint
from trainyard.upstream.scheduler import Host, Nodes, Placed, State, Unplaced, Wanted
from trainyard.upstream.scheduler.together import LIKELY, Together, Way, prospects, put

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Fit:
    """The pods of a job on machines: those that have a node, and those that have none."""

    placed: Sequence[tuple[Arrival, Placed]] = ()
    missing: Sequence[tuple[Arrival, Unplaced]] = ()
    otherwise: Fit | None = None
    """What also may come of it where all pods are placed, but not whichever nodes the scheduler takes first."""


@dataclass(eq=False)
class Machines:
    """The nodes of a cluster, empty or with what was put there."""

    where: Site
    nodes: Nodes
    holders: dict[str, list[str]] = field(default_factory=dict)
    """By host, the jobs whose pods are there, as `<team>/<job>`."""

    @staticmethod
    def of(where: Site) -> Machines:
        """Return the empty nodes of a cluster."""
        states: dict[str, State | None] = {}
        for name in where.cluster.pools:
            found = node(where.cluster, name)
            states[name] = None if isinstance(found, Invalid) else state(found.kubelet.copy(), where.cluster)
        hosts = []
        for name, value in where.nodes.items():
            pool = where.pool_of(name)
            labels = {**WELL_KNOWN, **value["metadata"]["labels"]}
            taints = tuple(Taint(**taint) for taint in value["spec"]["taints"])
            hosts.append(Host(name, labels, taints, states[pool], per_host(where.cluster, pool)))
        return Machines(where, Nodes(hosts, together(where.cluster)))

    def alone(self, bid: Bidder, answers: Sequence[Answer]) -> Fit:
        """Return where the pods of a job with quota go, and leave everything as it was."""
        found: dict[bool, Fit] = {}
        for prospect in self._prospects(bid, answers):
            found.setdefault(bool(prospect.missing), prospect)
            if len(found) == 2:
                break
        return replace(found[False], otherwise=found.get(True)) if False in found else found[True]

    def likely(self, bid: Bidder, answers: Sequence[Answer]) -> Fit:
        """Return where the pods of a job with quota go most likely, and leave everything as it was."""
        return next(self._prospects(bid, answers))

    def fill(self, bids: Iterable[Bidder], answer: Answer) -> dict[str, Fit]:
        """Put the pods of all jobs on nodes that Kueue admitted, in the order in which it did; by job.

        Jobs of several Workloads of which not all are admitted hold nodes, and are left out of what is returned.
        """
        found: dict[str, Fit] = {}
        for bid, mine in self.admitted(bids, answer):
            come = self.put(bid, mine)
            if all(mine):
                found[bid.name] = come
            for host in dict.fromkeys(placed.host for _, placed in come.placed):
                self.holders.setdefault(host, []).append(bid.name)
        return found

    def admitted(self, bids: Iterable[Bidder], answer: Answer) -> list[tuple[Bidder, list[Answer]]]:
        """Return the jobs whose pods are there, in the order in which Kueue admitted them, with what each Workload got.

        That is nothing for those of a job's Workloads that are not admitted.
        """
        said = ((bid, [answer["workloads"][key] for key in bid.keys]) for bid in bids)
        there = [(bid, [item if item["outcome"] == "admitted" else {} for item in mine]) for bid, mine in said]
        found = [(bid, mine) for bid, mine in there if any(mine)]
        return sorted(found, key=lambda item: max(one.get("cycle", 0) for one in item[1]))

    def put(self, bid: Bidder, answers: Sequence[Answer]) -> Fit:
        """Put the pods of a job on nodes."""
        return self.bind(bid, self.coming(bid, answers))

    def bind(self, bid: Bidder, there: Sequence[Arrival], way: Way = LIKELY) -> Fit:
        """Put these pods of a job on nodes; of groups that are bound at once or not at all, enough of them or none."""
        mark, groups = self.nodes.mark(), [arrival.group for arrival in there]
        found = put(self.nodes, pods_of(there), way)
        late = bound.unbound(bid, groups, [number for number, _ in found.placed])
        if not late:
            return fit(there, found)
        self.nodes.back(mark)
        others = [arrival for arrival in there if arrival.group not in late]
        rest = fit(others, put(self.nodes, pods_of(others), way))
        lacking = [(there[number], pod) for number, pod in found.missing if groups[number] in late]
        waiting = Unplaced({bound.TOGETHER: len(self.nodes.hosts)})
        lacking += [(there[number], waiting) for number, _ in found.placed if groups[number] in late]
        return replace(rest, missing=(*lacking, *rest.missing))

    def _prospects(self, bid: Bidder, answers: Sequence[Answer]) -> Iterator[Fit]:
        there = self.coming(bid, answers)
        return (fit(there, prospect) for prospect in prospects(self.nodes, pods_of(there)))

    def coming(self, bid: Bidder, answers: Sequence[Answer]) -> list[Arrival]:
        """Return the pods of a job with quota, none where a patch makes one none."""
        try:
            return list(arrivals(bid, answers, self.where))
        except SpecError:
            return []


def state(kubelet: Kubelet, cluster: Cluster) -> State:
    """Return a node of a cluster as its scheduler sees it."""
    return State(kubelet, cluster.minor, cluster.feature_gates)


def pods_of(there: Sequence[Arrival]) -> list[tuple[Wanted, str | None]]:
    """Return pods as nodes see them."""
    return [(arrival.wanted, arrival.host) for arrival in there]


def fit(there: Sequence[Arrival], found: Together) -> Fit:
    """Return the placed and unplaced pods, with their pod sets."""
    placed = [(there[number], placement) for number, placement in found.placed]
    return Fit(placed, [(there[number], pod) for number, pod in found.missing])
