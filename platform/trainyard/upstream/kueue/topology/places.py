"""The topology of one flavor with what is used of it, and the places that it has for pods.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go FindTopologyAssignmentsForFlavor, Fits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import compress, repeat

from trainyard.upstream.kueue.model.amounts import Amounts
from trainyard.upstream.kueue.model.flavors import ResourceFlavor, Topology
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.nodes import Node
from trainyard.upstream.kueue.model.placements import Domain, PlacedPods, Placement, PlacementRequest
from trainyard.upstream.kueue.model.workloads import TopologyRequest
from trainyard.upstream.kueue.topology import ask as asking
from trainyard.upstream.kueue.topology.balanced import Crash, balance_search
from trainyard.upstream.kueue.topology.choice import Search
from trainyard.upstream.kueue.topology.counts import Counts
from trainyard.upstream.kueue.topology.filters import Filters, Matches
from trainyard.upstream.kueue.topology.messages import excluded_sentence
from trainyard.upstream.kueue.topology.replacement import Loss, repair_placement
from trainyard.upstream.kueue.topology.room import Room, Sort, with_place
from trainyard.upstream.kueue.topology.spread import descend
from trainyard.upstream.kueue.topology.tally import Tally
from trainyard.upstream.kueue.topology.tree import Values, plant

Assumed = MutableMapping[Values, dict[str, int]]
"""By domain, what earlier pods of the same workload use of it."""

Placing = tuple[Placement, Placement | None]
"""Where workers stand, and their leader if there is one."""

ANSWERS = 512
"""Answers that are remembered."""


class Places:
    """The places of one flavor. Usage is added and removed; asking changes nothing."""

    def __init__(
        self,
        topology: Topology,
        flavor: ResourceFlavor,
        nodes: Iterable[Node],
        held: Mapping[str, Amounts],
        gates: Gates,
    ) -> None:
        """Take the nodes of the cluster, and what pods outside of topologies hold on them by name of the node."""
        self.name, self.gates = topology.name, gates
        self.tree = plant(topology.levels, nodes, flavor.node_labels)
        self.room = Room(self.tree, held)
        self.scored = gates["TASRespectNodeAffinityPreferred"]
        self.tally = Tally(self.tree, self.room)
        self.filters = Filters(self.tree, flavor.tolerations, scored=self.scored)
        self.now: dict[Hashable, Placing | str] = {}
        """Answers as the topology is used, forgotten when that changes."""
        self.unused: dict[Hashable, Placing | str] = {}
        """Answers where nothing of the topology runs."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Labels of the levels, the widest first."""
        return self.tree.levels

    @property
    def lowest_is_node(self) -> bool:
        """Whether pods are given single nodes."""
        return self.tree.by_host

    def has_levels(self, request: TopologyRequest | None) -> bool:
        """Whether the topology has all levels that a request names."""
        return asking.has_levels(request, self.levels)

    def add(self, used: PlacedPods) -> None:
        """Take room for pods; those in domains that are not there are passed over."""
        self._change(used, 1)

    def remove(self, used: PlacedPods) -> None:
        """Give the room of pods back."""
        self._change(used, -1)

    def _change(self, used: PlacedPods, sign: int) -> None:
        domain = self.tree.place.get(used.values)
        if domain is not None:
            self.now.clear()
            self.room.change(domain - self.tree.leaves.start, used.pod, sign * used.count)

    def fits(self, used: Iterable[PlacedPods]) -> bool:
        """Whether there is room for pods where they are placed, each domain taken for itself.

        Their own places among a node's pods are not looked at, and pods that ask for nothing never fit.
        """
        for placed_pods in used:
            domain = self.tree.place.get(placed_pods.values)
            if domain is None or not placed_pods.pod:
                if domain is None or placed_pods.count > 0:
                    return False
                continue
            left = self.room.states[self.room.left[domain - self.tree.leaves.start]]
            if self.room.bare(placed_pods.pod, left) < placed_pods.count:
                return False
        return True

    def find(
        self, requests: Sequence[PlacementRequest], *, empty: bool = False, assumed: Assumed | None = None
    ) -> dict[str, Placement | str]:
        """Return by pod set its place, or why it has none; after a group that has none no more are looked for.

        With `empty` nothing of a topology runs yet. `assumed` is what the workload uses in other flavors of these
        nodes; what it gets here is added. Raises Crash where Kueue does.
        """
        taken: Assumed = {} if assumed is None else assumed
        found: dict[str, Placement | str] = {}
        groups = group_requests(requests)
        for group in groups:
            leader, workers = leader_and_workers(group)
            try:
                placed = self.place(workers, leader, taken, empty=empty)
            except asking.Unplaced as refused:
                return found | {placement_request.pod_set.name: str(refused) for placement_request in group}
            found |= placed
            if len(group) > len(placed):
                raise Crash("a group of more than a leader and its workers has no place for the rest")
            for request in group if assumed is not None or group is not groups[-1] else ():
                assume(taken, placed[request.pod_set.name], request.pod)
        return found

    def repair(
        self, requests: Sequence[PlacementRequest], losses: Mapping[str, Loss], *, assumed: Assumed | None = None
    ) -> dict[str, Placement | str]:
        """Return the new places of pod sets that lost a node, by name; the first without one is the last."""
        taken: Assumed = {} if assumed is None else assumed
        found: dict[str, Placement | str] = {}
        for request in requests:
            name = request.pod_set.name
            if name not in losses:
                continue
            try:
                found[name], moved = repair_placement(self.tree, request, losses[name], partial(self._moved, taken))
            except asking.Unplaced as refused:
                return found | {name: str(refused)}
            assume(taken, moved, request.pod)
        return found

    def _moved(self, taken: Mapping[Values, Amounts], request: PlacementRequest, within: str) -> Placement:
        return self.place(request, None, taken, within=within)[request.pod_set.name]

    def place(
        self,
        workers: PlacementRequest,
        leader: PlacementRequest | None,
        taken: Mapping[Values, Amounts],
        *,
        empty: bool = False,
        within: str = "",
    ) -> dict[str, Placement]:
        """Return the places of workers and their leader; raises Unplaced where they have none."""
        request = workers.pod_set.topology
        ask = asking.resolve(
            request, self.levels, count=workers.count, leaders=int(leader is not None), implied=workers.implied
        )
        matches = self.filters.matches(workers)
        sort = self.room.sort(workers.pod, leader.pod if leader is not None else None)
        if taken or within:
            return placements_by_name(
                workers, leader, self._placed(ask, sort, matches, taken, empty=empty, within=within)
            )
        known = self.unused if empty else self.now
        key = request, workers.count, workers.implied, sort, id(matches)
        answer = known.get(key)
        if answer is None:
            try:
                answer = self._placed(ask, sort, matches, taken, empty=empty, within=within)
            except asking.Unplaced as refused:
                answer = str(refused)
            if len(known) >= ANSWERS:
                known.clear()
            known[key] = answer
        if isinstance(answer, str):
            raise asking.Unplaced(answer)
        return placements_by_name(workers, leader, answer)

    def _placed(
        self,
        ask: asking.Ask,
        sort: Sort,
        matches: Matches,
        taken: Mapping[Values, Amounts],
        *,
        empty: bool,
        within: str,
    ) -> Placing:
        tree = self.tree
        counts, why = self._counts(ask, sort, matches, taken, empty=empty, within=within)
        search = Search(
            topology=self.name,
            tree=tree,
            counts=counts,
            ask=ask,
            fullest_first=ask.unconstrained and self.gates["TASProfileMixed"],
            scored=self.scored,
            why=why,
            fits_leaders=self.gates.leaders_fit,
        )
        shared = None
        if self.gates["TASBalancedPlacement"] and not ask.required and not ask.unconstrained:
            shared = balance_search(search)
        search, level, domains = shared or (search, *search.fitting(ask.level))
        found = descend(search, level, domains, balanced=shared is not None)
        pods, leaders = search.counts.pods, search.counts.leaders
        placed = self._placement([(domain, pods[domain]) for domain in found])
        return placed, self._placement([(domain, leaders[domain]) for domain in found]) if ask.leaders else None

    def _counts(
        self,
        ask: asking.Ask,
        sort: Sort,
        matches: Matches,
        taken: Mapping[Values, Amounts],
        *,
        empty: bool,
        within: str,
    ) -> tuple[Counts, Callable[[], str]]:
        """Return the room of each domain, and a function for the reasons why the others have none."""
        if not taken and not within:
            states = self.room.free if empty else self.room.left
            counts = self.tally.counts(ask, sort, matches, empty=empty)
            return counts, partial(self._excluded, matches, matches.open, sort, states)
        start, place = self.tree.leaves.start, self.tree.place
        assumed = {place[values] - start: amounts for values, amounts in taken.items() if values in place}
        fills = self.room.fills(sort, empty=empty, assumed=assumed)
        allowed = self._inside(within, matches) if within else matches.open
        counts = self.tally.counted(ask, fills, allowed, matches.scores)
        return counts, partial(self._excluded, matches, allowed, sort, fills.states)

    def _inside(self, within: str, matches: Matches) -> list[int]:
        """Return by leaf whether pods may run there and it is within a domain."""
        tree = self.tree
        inside = (f"{','.join(tree.values[leaf])},".startswith(f"{within},") for leaf in tree.leaves)
        allowed = matches.open or [1] * len(tree.leaves)
        return [may * int(is_inside) for may, is_inside in zip(allowed, inside, strict=True)]

    def _excluded(self, matches: Matches, allowed: Sequence[int] | None, sort: Sort, states: Sequence[int]) -> str:
        causes, looked_at = dict(matches.excluded), list(compress(states, allowed or repeat(1)))
        outside = len(self.tree.leaves) - len(looked_at) - sum(causes.values())
        causes |= {f'resource "{name}"': count for name, count in self.room.limits(sort, looked_at).items()}
        return excluded_sentence(causes | ({"topologyDomain": outside} if outside else {}), len(self.tree.leaves))

    def _placement(self, pods: Iterable[tuple[int, int]]) -> Placement:
        """Return the place of so many pods on leaves, in the order of their values."""
        tree = self.tree
        domains = tuple(Domain(tree.named(leaf), count) for leaf, count in sorted(pods) if count)
        return Placement(self.levels[-1:] if tree.by_host else self.levels, domains)


def placements_by_name(
    workers: PlacementRequest, leader: PlacementRequest | None, placing: Placing
) -> dict[str, Placement]:
    """Return by pod set where it stands."""
    found = {workers.pod_set.name: placing[0]}
    if leader is not None and placing[1] is not None:
        found[leader.pod_set.name] = placing[1]
    return found


def group_requests(requests: Sequence[PlacementRequest]) -> list[list[PlacementRequest]]:
    """Return requests by their groups, each without a group for itself, in the order in which groups begin."""
    groups: dict[str | int, list[PlacementRequest]] = {}
    for index, request in enumerate(requests):
        groups.setdefault(index if request.group is None else request.group, []).append(request)
    return list(groups.values())


def leader_and_workers(group: Sequence[PlacementRequest]) -> tuple[PlacementRequest | None, PlacementRequest]:
    """Return the leader of a group, None without one, and the workers: of two pod sets the larger, or the first."""
    if len(group) == 1:
        return None, group[0]
    first, second = group[:2]
    return (first, second) if second.count > first.count else (second, first)


def assume(taken: Assumed, placement: Placement, pod: Amounts) -> None:
    """Count pods as there, for those that are placed after them."""
    usage = with_place(pod)
    for domain in placement.domains:
        there = taken.setdefault(domain.values, {})
        for name, amount in usage.items():
            there[name] = there.get(name, 0) + amount * domain.count
