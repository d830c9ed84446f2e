"""Pods that come together: which of them get nodes, and whether that is so whichever nodes the scheduler takes first.

It places one pod after the other and takes none back. Which of several nodes it takes is its score's doing, and chance
among equals; in which order pods of several sets come is chance, too. So pods that are not alike may be placed in one
order and not in another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.scheduling.choice import SCHEDULERS, Choice
from trainyard.scheduling.nodes import Nodes, Placed, Unplaced
from trainyard.scheduling.wanted import Wanted

Pod = tuple[Wanted, str | None]
"""A pod, and the node that was assigned to it, if one was."""

FULLEST = Choice(fullest=True)
CHANCES = tuple(Choice(seed=seed) for seed in range(3))


@dataclass(frozen=True, slots=True)
class Together:
    """What became of pods, by their numbers."""

    placed: tuple[tuple[int, Placed], ...] = ()
    missing: tuple[tuple[int, Unplaced], ...] = ()


def put(nodes: Nodes, pods: Sequence[Pod], choice: Choice = SCHEDULERS, *, backwards: bool = False) -> Together:
    """Put pods on nodes, one after the other, the last first where that is asked.

    Pods that find no node are tried again while others do: they may want to be near these.
    """
    placed, missing = list[tuple[int, Placed]](), list[tuple[int, Unplaced]]()
    left = [*range(len(pods))][:: -1 if backwards else 1]
    while left:
        done, missing = tried(nodes, pods, left, choice)
        placed += done
        left = [number for number, _ in missing] if done else []
    return Together(tuple(placed), tuple(missing))


def tried(
    nodes: Nodes, pods: Sequence[Pod], left: Sequence[int], choice: Choice
) -> tuple[list[tuple[int, Placed]], list[tuple[int, Unplaced]]]:
    """Return the pods that found a node, and those that found none; equal ones are asked about once."""
    placed, missing = list[tuple[int, Placed]](), list[tuple[int, Unplaced]]()
    hopeless: dict[tuple[int, str | None], Unplaced] = {}
    for number in left:
        wanted, host = pods[number]
        key = id(wanted), host
        found = hopeless.get(key) or nodes.place(wanted, host, choice)
        if isinstance(found, Placed):
            placed.append((number, found))
        else:
            hopeless[key] = found
            missing.append((number, found))
    return placed, missing


def prospects(nodes: Nodes, pods: Sequence[Pod]) -> Iterator[Together]:
    """Yield what becomes of pods, first as is most likely, then otherwise where it could be; nodes stay as they are.

    Pods that are alike and want nothing of each other have one outcome: each node takes as many as it takes.
    """
    ways = [(SCHEDULERS, False)]
    if not settled(pods):
        ways += [*((choice, backwards) for choice in CHANCES for backwards in (False, True)), (FULLEST, False)]
        ways += [(FULLEST, True)]
    mark = nodes.mark()
    for choice, backwards in ways:
        yield put(nodes, pods, choice, backwards=backwards)
        nodes.back(mark)


def settled(pods: Sequence[Pod]) -> bool:
    """Whether it does not matter which nodes pods get first."""
    free = {id(wanted): wanted for wanted, host in pods if host is None}
    assigned = len({id(wanted) for wanted, host in pods if host is not None})
    return len(free) + assigned <= 1 and not any(wanted.social for wanted in free.values())
