"""Pods that come together: which of them get nodes, and whether that is so whichever nodes the scheduler takes first.

It places one pod after the other and takes none back. Which of several nodes it takes is its score's doing, and chance
among equals; in which order pods of several sets come, and when those are tried again that found no node, is chance,
too. So pods that are not alike may all be placed in one way and not in another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, product
from typing import Literal

from trainyard.upstream.scheduler.choice import SCHEDULERS, Choice
from trainyard.upstream.scheduler.nodes import Nodes, Placed, Unplaced
from trainyard.upstream.scheduler.wanted import Wanted

Pod = tuple[Wanted, str | None]
"""A pod, and the node that was assigned to it, if one was."""


Order = Literal["first", "last", "any"]
ORDERS: tuple[Order, ...] = ("any", "first", "last")


@dataclass(frozen=True, slots=True)
class Way:
    """One of the ways in which pods may come to nodes."""

    choice: Choice = SCHEDULERS
    first: Order = "first"
    """Which comes first: controllers of several sets create their pods side by side."""
    at_once: bool = False
    """Whether pods that found no node are tried again whenever another one did, else when all were tried.

    The scheduler does so at once where no other pod waits, else after a second or more (kubernetes v1.35.4
    pkg/scheduler/backend/queue/scheduling_queue.go).
    """


LIKELY = Way()
FULLEST = Choice(fullest=True)

TRIES, FEWEST, MOST = 3000, 6, 90
"""Pods that are put on nodes to see what chance may bring; and how often, of many pods and of few."""


@dataclass(frozen=True, slots=True)
class Together:
    """What became of pods, by their numbers."""

    placed: tuple[tuple[int, Placed], ...] = ()
    missing: tuple[tuple[int, Unplaced], ...] = ()


@dataclass(eq=False)
class Queue:
    """Pods that are tried, and what became of them so far."""

    nodes: Nodes
    pods: Sequence[Pod]
    choice: Choice
    placed: list[tuple[int, Placed]] = field(default_factory=list)
    missing: dict[int, Unplaced] = field(default_factory=dict)
    never: dict[tuple[int, str | None], Unplaced] = field(default_factory=dict)
    """What became of pods like those that are tried, and will whatever else is placed."""
    now: dict[tuple[int, str | None], Unplaced] = field(default_factory=dict)
    """The same, until another one is placed."""

    def finds(self, number: int) -> bool:
        """Whether a pod finds a node, now that it is tried."""
        wanted, host = self.pods[number]
        key = id(wanted), host
        found = self.never.get(key) or self.now.get(key) or self.nodes.place(wanted, host, self.choice)
        if isinstance(found, Placed):
            self.missing.pop(number, None)
            self.placed.append((number, found))
            self.now.clear()
            return True
        (self.now if wanted.near_others else self.never)[key] = self.missing[number] = found
        return False

    def again(self) -> None:
        """Try pods again that may want to be near those which were placed, until none finds a node."""
        found = True
        while found:
            waiting = [number for number in self.missing if self.pods[number][0].near_others]
            found = sum(self.finds(number) for number in waiting) > 0


def put(nodes: Nodes, pods: Sequence[Pod], way: Way = LIKELY) -> Together:
    """Put pods on nodes, one after the other."""
    queue = Queue(nodes, pods, way.choice)
    for number in order(len(pods), way):
        if queue.finds(number) and way.at_once:
            queue.again()
    queue.again()
    return Together(tuple(queue.placed), tuple(queue.missing.items()))


def order(count: int, way: Way) -> list[int]:
    """Return the numbers of pods as they come."""
    numbers = [*range(count)][:: -1 if way.first == "last" else 1]
    if way.first == "any":
        random.Random(way.choice.seed).shuffle(numbers)  # noqa: S311 - the same for the same seed
    return numbers


def prospects(nodes: Nodes, pods: Sequence[Pod]) -> Iterator[Together]:
    """Yield the likely placement of pods first, then other possible ones; nodes stay as they are."""
    mark = nodes.mark()
    for way in ways(nodes, pods):
        found = put(nodes, pods, way)
        nodes.back(mark)
        yield found


def ways(nodes: Nodes, pods: Sequence[Pod]) -> Iterator[Way]:
    """Yield ways in which pods may come to nodes that do not all come to the same.

    Where pods that may have the same nodes are alike and want nothing of each other, there is one outcome: each node
    takes as many as it takes.
    """
    yield LIKELY
    assigned = {id(wanted) for wanted, host in pods if host is not None}
    free = {id(wanted): wanted for wanted, host in pods if host is None}
    if not free:
        yield from [Way(first="last")] if len(assigned) > 1 else []
    elif assigned or any(wanted.social for wanted in free.values()) or may_share(nodes, free.values()):
        when = (False, True) if any(wanted.near_others for wanted in free.values()) else (False,)
        for way, at_once in product(others(len(pods)), when):
            yield replace(way, at_once=at_once)


def others(count: int) -> Iterator[Way]:
    """Yield ways in which so many pods may come that are less likely, each of them."""
    yield from (Way(first="last"), Way(FULLEST), Way(FULLEST, "last"))
    for seed, first in zip(range(min(MOST, max(FEWEST, TRIES // count))), cycle(ORDERS), strict=False):
        yield Way(Choice(seed=seed), first)


def may_share(nodes: Nodes, pods: Collection[Wanted]) -> bool:
    """Whether pods that are not alike may have the same nodes, or take of what all nodes have together."""
    usable = [name for pod in pods for name in nodes.usable(pod)]
    common = Counter(name for pod in pods for name in pod.takes if name in nodes.shared)
    return len(set(usable)) < len(usable) or max(common.values(), default=0) > 1
