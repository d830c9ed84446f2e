"""What the leaves of a topology have left, and how many pods of one sort that is.

Leaves with the same amounts left are told apart by nothing, so pods are counted once for each of these states.
Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go fillLeafCounts, pkg/resources/requests.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from trainyard.upstream.kueue.model.amounts import Amounts
from trainyard.upstream.kueue.topology.tree import Tree

PODS = "pods"
MOST = 2**31 - 1
"""Pods that nothing limits: the largest number that Kueue counts them in (int32)."""


SORTS = 256
"""Sorts of pods that are remembered."""

STEPS = 4096
"""Changes of states that are remembered."""


class Fills(NamedTuple):
    """By leaf, the room for one sort of pods."""

    states: Sequence[int]
    pods: list[int]
    led: list[int]
    """Pods beside the leader; as many as without it where it does not fit. The same list without a leader."""
    leaders: list[int] | None
    """1 where the leader of the group fits, too; None without a leader."""


class Sort:
    """One sort of pods, with the leader of its group: the room that leaves have for it, by what they have left."""

    def __init__(self, names: tuple[str, ...], pod: Amounts, leader: Amounts | None) -> None:
        """Take what one pod asks for, the place of a pod among it."""
        index = {name: at for at, name in enumerate(names)}
        self.asked = [(name, index.get(name, -1), pod[name]) for name in sorted(pod)]
        self.first = [(name, index.get(name, -1), leader[name]) for name in sorted(leader)] if leader else None
        self.pods: dict[int, int] = {}
        """By state, how many pods a leaf has room for."""
        self.led: dict[int, int] = {}
        self.leaders: dict[int, int] = {}

    def learn(self, state: int, left: tuple[int, ...]) -> None:
        """Count the pods that some amounts have room for."""
        self.pods[state] = self.led[state] = times(self.asked, left)[0]
        self.leaders[state] = 0
        if self.first is not None and times(self.first, left)[0]:
            rest = list(left)
            for _, at, amount in self.first:
                if at >= 0:
                    rest[at] -= amount
            self.leaders[state], self.led[state] = 1, times(self.asked, tuple(rest))[0]


def times(asked: list[tuple[str, int, int]], left: tuple[int, ...]) -> tuple[int, str]:
    """Return how often requests fit into what is left, and the resource that allows no more."""
    most, limit = -1, ""
    for name, at, amount in asked:
        if not amount:
            count = MOST
        elif at < 0 or left[at] < amount:
            return 0, name
        else:
            count = min(left[at] // amount, MOST)
        if most < 0 or count < most:
            most, limit = count, name
    return max(most, 0), limit


class Room:
    """What each leaf has left: its nodes' allocatable, less pods outside of topologies, less those inside."""

    def __init__(self, tree: Tree, held: Mapping[str, Amounts]) -> None:
        """Take what pods outside of topologies hold, by node."""
        self.tree = tree
        found = {name for nodes in tree.nodes for node in nodes for name in node.allocatable}
        self.names = tuple(sorted(found))
        self.index = {name: at for at, name in enumerate(self.names)}
        self.states: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[int, ...], int] = {}
        self.free = [self.state(self._free(leaf, held)) for leaf in range(len(tree.nodes))]
        """By leaf, the state without any pod of a topology."""
        self.left = list(self.free)
        """By leaf, the state as it is."""
        self.changes: list[int] = []
        """The leaves that changed, in the order of the changes."""
        self.sorts: dict[tuple[object, ...], Sort] = {}
        self.pods: dict[int, tuple[Amounts, tuple[int, ...]]] = {}
        """What pods take of each resource, a place of their own among it, with the amounts by whose identity it is."""
        self.steps: dict[tuple[int, tuple[int, ...], int], int] = {}
        """To which state so many pods bring a state."""

    def _free(self, leaf: int, held: Mapping[str, Amounts]) -> tuple[int, ...]:
        total = dict.fromkeys(self.names, 0)
        for node in self.tree.nodes[leaf]:
            for name, amount in node.allocatable.items():
                total[name] += amount
            for name, amount in held.get(node.name, {}).items():
                if name in total:
                    total[name] -= amount
        return tuple(total.values())

    def state(self, amounts: tuple[int, ...]) -> int:
        """Return the number of a state."""
        number = self.numbers.setdefault(amounts, len(self.states))
        if number == len(self.states):
            self.states.append(amounts)
        return number

    def change(self, leaf: int, pod: Amounts, times: int) -> None:
        """Take so many pods' amounts from a leaf, or give them back for a negative number."""
        known = self.pods.get(id(pod))
        if known is None:
            if len(self.pods) >= SORTS:
                self.pods.clear()
            placed = with_place(pod)
            known = self.pods[id(pod)] = pod, tuple(placed.get(name, 0) for name in self.names)
        step = self.left[leaf], known[1], times
        after = self.steps.get(step)
        if after is None:
            if len(self.steps) >= STEPS:
                self.steps.clear()
            there = self.states[step[0]]
            after = self.state(
                tuple(amount_left - amount * times for amount_left, amount in zip(there, known[1], strict=True))
            )
            self.steps[step] = after
        self.left[leaf] = after
        self.changes.append(leaf)

    def less(self, state: int, amounts: Amounts) -> tuple[int, ...]:
        """Return the amounts of a state after some are taken; resources that no node has are not counted."""
        left = list(self.states[state])
        for name, amount in amounts.items():
            at = self.index.get(name)
            if at is not None:
                left[at] -= amount
        return tuple(left)

    def bare(self, pod: Amounts, left: tuple[int, ...]) -> int:
        """Return how often a pod fits into what is left, its own place among pods not looked at."""
        return times([(name, self.index.get(name, -1), amount) for name, amount in pod.items()], left)[0]

    def sort(self, pod: Amounts, leader: Amounts | None) -> Sort:
        """Return a sort of pods; each gets a place of its own beside what it asks for."""
        pod, leader = with_place(pod), with_place(leader) if leader is not None else None
        key = (tuple(sorted(pod.items())), tuple(sorted(leader.items())) if leader is not None else None)
        found = self.sorts.pop(key, None) or Sort(self.names, pod, leader)
        self.sorts[key] = found
        if len(self.sorts) > SORTS:
            del self.sorts[next(iter(self.sorts))]
        return found

    def fill(self, sort: Sort, state: int) -> tuple[int, int, int]:
        """Return how many pods a state has room for, how many beside the leader, and how many leaders."""
        if state not in sort.pods:
            sort.learn(state, self.states[state])
        return sort.pods[state], sort.led[state], sort.leaders[state]

    def fills(self, sort: Sort, *, empty: bool, assumed: Mapping[int, Amounts]) -> Fills:
        """Return the room of all leaves, less what earlier pods of the same workload are assumed to use of them."""
        states = self.free if empty else self.left
        if assumed:
            states = list(states)
            for leaf, amounts in assumed.items():
                states[leaf] = self.state(self.less(states[leaf], amounts))
        for state in set(states) - sort.pods.keys():
            sort.learn(state, self.states[state])
        pods = [*map(sort.pods.__getitem__, states)]
        if sort.first is None:
            return Fills(states, pods, pods, None)
        return Fills(states, pods, [*map(sort.led.__getitem__, states)], [*map(sort.leaders.__getitem__, states)])

    def limits(self, sort: Sort, states: Iterable[int]) -> dict[str, int]:
        """Return on how many leaves of given states which resource leaves no room for a single pod."""
        found: dict[str, int] = {}
        for state, count in Counter(states).items():
            pods, limit = times(sort.asked, self.states[state])
            if not pods:
                found[limit] = found.get(limit, 0) + count
        return found


def with_place(pod: Amounts) -> dict[str, int]:
    """Return the requests of a pod with its own place among the pods of a node."""
    return {**pod, PODS: pod.get(PODS, 0) + 1}
