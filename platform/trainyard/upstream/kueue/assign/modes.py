"""How good a flavor is for a request, and which of two is better (kueue v0.19.2 pkg/scheduler/flavorassigner)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from trainyard.upstream.kueue.model.queues import TRY_NEXT, Fungibility


class Mode(IntEnum):
    """What has to happen before a flavor can be had; a higher one is better."""

    NO_FIT = 0
    PREEMPT = 1
    DEFERRED = 2
    FIT = 3

    def __str__(self) -> str:
        return {0: "NoFit", 1: "Preempt", 2: "DeferredFit", 3: "Fit"}[int(self)]


class Search(IntEnum):
    """What a search for victims came to; the first is that none was made, the last that none is needed."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def mode(self) -> Mode:
        """What has to happen before the flavor can be had."""
        return MODES[self]

    @property
    def possibility(self) -> str | None:
        """What preemption can do, in Kueue's words; None where it was not asked."""
        return POSSIBILITIES[self]


MODES = (Mode.NO_FIT, Mode.PREEMPT, Mode.PREEMPT, Mode.PREEMPT, Mode.FIT)
POSSIBILITIES = (None, "NoCandidates", "Preempt", "Reclaim", None)


class Grade(NamedTuple):
    """A search's result, and how far quota has to come from."""

    search: Search
    level: int


BEST = Grade(Search.FIT, 0)
WORST = Grade(Search.NO_FIT, 2**63 - 1)


def is_preferred(left: Grade, right: Grade, fungibility: Fungibility) -> bool:
    """Say whether the left is better: without candidates is worse than all that works, whatever is preferred."""
    if left.search is Search.NO_FIT:
        return False
    if right.search is Search.NO_FIT:
        return True
    stuck = left.search is Search.NO_CANDIDATES
    if stuck != (right.search is Search.NO_CANDIDATES):
        return not stuck
    nearer = left.level < right.level
    if fungibility.preference == "PreemptionOverBorrowing":
        return nearer if left.level != right.level else left.search > right.search
    return left.search > right.search if left.search != right.search else nearer


def goes_on(grade: Grade, fungibility: Fungibility) -> bool:
    """Say whether the next flavor is tried after this one."""
    if grade.search in (Search.NO_FIT, Search.NO_CANDIDATES):
        return True
    if grade.search in (Search.PREEMPT, Search.RECLAIM) and fungibility.preempt == TRY_NEXT:
        return True
    return grade.level > 0 and fungibility.borrow == TRY_NEXT
