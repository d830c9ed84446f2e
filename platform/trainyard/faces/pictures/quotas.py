"""Quota as a tree: cohorts in cohorts, queues in them, and of each what is nominal, used, borrowed, lent and asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.faces.pictures.amounts import Amounts, Key, Place, amounts, gpu_resources, places
from trainyard.faces.pictures.decided import Decided


@dataclass(frozen=True, slots=True)
class Sums:
    """Amounts of one resource, of all queues of a branch together."""

    nominal: float
    used: float
    asked: float
    never: float = 0
    """Of that, what never gets quota."""


@dataclass(frozen=True, slots=True)
class Row:
    """One resource of one flavor."""

    flavor: str
    resource: str
    now: Sums
    before: Sums | None = None
    """None where no state before is known."""
    least_lent: float = 0
    most_lent: float = 0
    """What others have of it: nobody says of whom they borrow, where several have something to lend."""

    @property
    def borrowed(self) -> float:
        """What it uses beyond its nominal quota."""
        return max(0.0, self.now.used - self.now.nominal)

    @property
    def waits(self) -> float:
        """What is asked of it and not given yet."""
        return max(0.0, self.now.asked - self.now.never - self.now.used)


@dataclass(frozen=True, slots=True)
class Branch:
    """A queue, or a cohort with all that is below it."""

    name: str
    cohort: bool
    rows: tuple[Row, ...]
    below: tuple[Branch, ...] = ()
    held: bool = False
    """Whether it admits nothing at the moment."""


Lent = Mapping[Place, tuple[float, float]]


@dataclass(frozen=True)
class Tree:
    """The queues and cohorts of a cluster, each with the cohort above it, and their amounts on both sides."""

    above: Mapping[Key, str]
    after: Mapping[Key, Amounts]
    past: Mapping[Key, Amounts] | None
    counted: Sequence[Place]
    held: frozenset[str]

    def branch(self, key: Key, lent: Mapping[Key, Lent]) -> Branch:
        """Return a queue or a cohort with all below it."""
        below = tuple(self.branch(child, lent) for child in self.children(key))
        found = tuple(self.rows(key, lent.get(key, {})))
        return Branch(key[1], key[0], found, below, not key[0] and key[1] in self.held)

    def children(self, key: Key) -> list[Key]:
        """Return the children of a cohort, cohorts first."""
        mine = [name for name, top in self.above.items() if key[0] and top == key[1]]
        return sorted(mine, key=lambda item: (not item[0], item[1]))

    def family(self, key: Key) -> list[Key]:
        """Return a branch and all below it."""
        return [key, *(one for child in self.children(key) for one in self.family(child))]

    def rows(self, key: Key, lent: Lent) -> Iterator[Row]:
        """Yield the rows of a branch, one per counted resource."""
        family = self.family(key)
        for place in self.counted:
            now = sums(self.after, family, place)
            before = sums(self.past, family, place) if self.past is not None else None
            if now != Sums(0, 0, 0) or (before or now) != Sums(0, 0, 0):
                yield Row(*place, now, before, *lent.get(place, (0.0, 0.0)))

    def lending(self, top: Key) -> dict[Key, Lent]:
        """Return the least and the most that each member of a tree lends to the others."""
        family = [item for item in self.family(top) if item in self.after]
        return {item: {place: self.lent(item, place, family) for place in self.counted} for item in family}

    def lent(self, key: Key, place: Place, family: Sequence[Key]) -> tuple[float, float]:
        """Return the least and the most that one member of a tree lends of something."""
        total = sum(self.after[item].borrowed(place) for item in family)
        spare = self.after[key].spare(place)
        others = sum(self.after[item].spare(place) for item in family if item != key)
        return max(0.0, total - others), min(spare, total)


def sums(side: Mapping[Key, Amounts], family: Sequence[Key], place: Place) -> Sums:
    """Return the amounts of a branch."""
    mine = [side[key] for key in family if key in side]
    return Sums(
        sum(one_amounts.nominal.get(place, 0) for one_amounts in mine),
        sum(one_amounts.used.get(place, 0) for one_amounts in mine),
        sum(one_amounts.asked.get(place, 0) for one_amounts in mine),
        sum(one_amounts.never.get(place, 0) for one_amounts in mine),
    )


def quotas(before: Decided | None, now: Decided, *, compared: bool) -> tuple[Branch, ...]:
    """Return the cohorts without a parent and the queues without a cohort; nothing where Kueue admits nothing.

    `compared` says that a state before is known, if only an empty one.
    """
    if now.where is None:
        return ()
    above = {(False, name): over(value, "cohortName") for name, value in now.where.of("ClusterQueue").items()}
    above |= {(True, name): over(value, "parentName") for name, value in now.where.of("Cohort").items()}
    above |= {(True, name): "" for name in above.values() if name and (True, name) not in above}
    after, past = amounts(now), amounts(before) if compared else None
    counted = places(gpu_resources(now), [*after.values(), *(past or {}).values()])
    told = now.answer.get("clusterQueues", {})
    tree = Tree(above, after, past, counted, frozenset(name for name, value in told.items() if not value["active"]))
    tops = sorted((key for key, name in above.items() if not name), key=lambda key: (not key[0], key[1]))
    return tuple(tree.branch(top, tree.lending(top)) for top in tops)


def over(value: Mapping[str, Any], field: str) -> str:
    """Return the cohort above a queue or a cohort, nothing where there is none."""
    return str((value.get("spec") or {}).get(field) or "")
