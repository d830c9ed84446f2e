"""Quota as a tree: cohorts in cohorts, queues in them, and of each what is nominal, used, borrowed, lent and asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import reduce
from operator import add
from typing import Any

from trainyard.base.pools import Selectors, selected_pools
from trainyard.faces.pictures.decided import Decided
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.outcomes import holds
from trainyard.judge.admission.witness import amount
from trainyard.render.sizing.gpus import offers

Place = tuple[str, str]
"""A flavor and a resource."""

Key = tuple[bool, str]
"""Whether it is a cohort, and its name: a queue may be called the same."""

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sums:
    """Amounts of one resource in one flavor, of a queue or of all queues of a branch together."""

    nominal: float
    used: float
    asked: float
    never: float = 0
    """Of that, what jobs ask that never get quota."""
    lends: float = field(default=0, compare=False)
    """Of the nominal quota, what others may use at most."""

    def __add__(self, other: Sums) -> Sums:
        """Return two amounts together."""
        return Sums(*map(add, astuple(self), astuple(other)))

    @property
    def spare(self) -> float:
        """The unused quota that other queues may borrow."""
        return max(0.0, min(self.nominal - self.used, self.lends))

    @property
    def borrowed(self) -> float:
        """The amount used beyond the nominal quota."""
        return max(0.0, self.used - self.nominal)

    @property
    def waits(self) -> float:
        """What is asked and not given yet."""
        return max(0.0, self.asked - self.never - self.used)


NONE = Sums(0, 0, 0)

Amounts = Mapping[Key, Mapping[Place, Sums]]


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
    def place(self) -> Place:
        """The flavor and the resource."""
        return self.flavor, self.resource

    @property
    def sides(self) -> list[Sums]:
        """The amounts now, and before where they are known."""
        return [self.now, *([self.before] if self.before else [])]


@dataclass(frozen=True, slots=True)
class Branch:
    """A queue, or a cohort with all that is below it."""

    name: str
    cohort: bool
    rows: tuple[Row, ...]
    below: tuple[Branch, ...] = ()
    held: bool = False
    """Whether it admits nothing at the moment."""


@dataclass(frozen=True)
class Tree:
    """The queues and cohorts of a cluster, each with the cohort above it, and their amounts on both sides."""

    above: Mapping[Key, str]
    after: Amounts
    past: Amounts | None
    counted: Sequence[Place]
    held: frozenset[str]

    def branch(self, key: Key, top: Key) -> Branch:
        """Return a queue or a cohort with all below it; `top` is the root of its tree."""
        below = tuple(self.branch(child, top) for child in self.children(key))
        return Branch(key[1], key[0], tuple(self.rows(key, top)), below, not key[0] and key[1] in self.held)

    def children(self, key: Key) -> list[Key]:
        """Return the children of a cohort, cohorts first."""
        mine = [name for name, top in self.above.items() if key[0] and top == key[1]]
        return sorted(mine, key=lambda item: (not item[0], item[1]))

    def family(self, key: Key) -> list[Key]:
        """Return a branch and all below it."""
        return [key, *(one for child in self.children(key) for one in self.family(child))]

    def rows(self, key: Key, top: Key) -> Iterator[Row]:
        """Yield the rows of a branch, one per counted resource."""
        family, everyone = self.family(key), self.family(top)
        for place in self.counted:
            now = sums(self.after, family, place)
            before = sums(self.past, family, place) if self.past is not None else None
            if now != NONE or before not in {None, NONE}:
                yield Row(*place, now, before, *self.lent(key, place, everyone))

    def lent(self, key: Key, place: Place, everyone: Sequence[Key]) -> tuple[float, float]:
        """Return the least and the most that one member of a tree lends of something to the others."""
        own = {item: sums(self.after, [item], place) for item in everyone}
        total = sum(item.borrowed for item in own.values())
        spare = own[key].spare
        return max(0.0, total - sum(item.spare for item in own.values()) + spare), min(spare, total)


def sums(side: Amounts, family: Sequence[Key], place: Place) -> Sums:
    """Return the amounts of a branch."""
    return reduce(add, (side.get(key, {}).get(place, NONE) for key in family), NONE)


def quotas(before: Decided | None, now: Decided, *, compared: bool) -> tuple[Branch, ...]:
    """Return the cohorts without a parent and the queues without a cohort; nothing where Kueue admits nothing.

    `compared` says that a state before is known, if only an empty one.
    """
    if now.where is None:
        return ()
    above = {(False, name): parent(value, "cohortName") for name, value in now.where.of("ClusterQueue").items()}
    above |= {(True, name): parent(value, "parentName") for name, value in now.where.of("Cohort").items()}
    above |= {(True, name): "" for name in above.values() if name and (True, name) not in above}
    after, past = amounts(now), amounts(before) if compared else None
    counted = places(gpu_resources(now), [*after.values(), *(past or {}).values()])
    said = now.answer.get("clusterQueues", {})
    tree = Tree(above, after, past, counted, frozenset(name for name, value in said.items() if not value["active"]))
    tops = sorted((key for key, name in above.items() if not name), key=lambda key: (not key[0], key[1]))
    return tuple(tree.branch(top, top) for top in tops)


def parent(value: Object, field: str) -> str:
    """Return the cohort above a queue or a cohort, nothing where there is none."""
    return str((value.get("spec") or {}).get(field) or "")


def amounts(decided: Decided | None) -> Amounts:
    """Return the amounts of all queues and cohorts of a cluster; none where Kueue admits nothing."""
    found: dict[Key, dict[Place, Sums]] = {}
    for key, place, part in parts(decided) if decided is not None and decided.where is not None else ():
        rows = found.setdefault(key, {})
        rows[place] = rows.get(place, NONE) + part
    return found


def parts(decided: Decided) -> Iterator[tuple[Key, Place, Sums]]:
    """Yield the nominal quota of queues and cohorts, what queues use, and what jobs ask of them."""
    for kind in ("Cohort", "ClusterQueue"):
        for name, value in (decided.where.of(kind) if decided.where is not None else {}).items():
            for place, nominal, lends in quota(value):
                yield (kind == "Cohort", name), place, Sums(nominal, 0, 0, 0, lends)
    for name, value in decided.answer.get("clusterQueues", {}).items():
        for flavor, row in value.get("usage", {}).items():
            for resource, text in row.items():
                yield (False, name), (flavor, resource), Sums(0, float(amount(text)), 0)
    for ask in decided.judged_jobs:
        never = never_fits(decided, ask)
        for queue, place, count in requests(decided, ask):
            yield (False, queue), place, Sums(0, 0, count, count if never else 0)


def quota(value: Object) -> Iterator[tuple[Place, float, float]]:
    """Yield each resource of a queue or a cohort: its nominal quota, and what of it may be lent, by default all."""
    for group in (value.get("spec") or {}).get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for row in flavor["resources"]:
                lends = row.get("lendingLimit", row["nominalQuota"])
                yield (flavor["name"], row["name"]), float(amount(row["nominalQuota"])), float(amount(lends))


def never_fits(decided: Decided, ask: Bidder) -> bool:
    """Whether a job never fits, and holds no quota."""
    return decided.word(ask) == "never fits" and not all(map(holds, decided.of(ask)))


def requests(decided: Decided, ask: Bidder) -> Iterator[tuple[str, Place, float]]:
    """Yield the requests of a job with its queue; a waiting job counts in the flavor of its pool."""
    for workload, answer in zip(ask.workloads, decided.of(ask), strict=True):
        selectors = decided.cluster.selectors
        pools = {pod_set["name"]: pool_of(pod_set, selectors) for pod_set in workload["spec"]["podSets"]}
        for pods, name, count in held_resources(answer):
            flavor = pods.get("flavors", {}).get(name, pools.get(pods["name"], ""))
            yield answer.get("clusterQueue") or "", (flavor, name), count


def held_resources(answer: Object) -> Iterator[tuple[Object, str, float]]:
    """Yield the resources that each pod set of a Workload holds or requests, summed over its pods."""
    for pods in answer.get("podSets") or answer.get("requests") or ():
        for name, text in (pods.get("usage") or pods.get("total") or {}).items():
            yield pods, name, float(amount(text))


def pool_of(pods: Object, selectors: Selectors) -> str:
    """Return the pool that the pods of a pod set select, of several the first; its flavor has the same name."""
    return next(iter(selected_pools(pods["template"]["spec"], selectors)), "")


def gpu_resources(decided: Decided) -> frozenset[str]:
    """Return the resources by which nodes of a cluster offer GPUs and parts of them."""
    return frozenset(offer.resource for pool in decided.cluster.pools.values() for offer in offers(pool))


def places(gpus: frozenset[str], every: Iterable[Mapping[Place, Sums]]) -> list[Place]:
    """Return the counted resources: per flavor its GPUs, or CPUs where it has none; whole GPUs first."""
    there = {place for rows in every for place, row in rows.items() if row.nominal or row.asked}
    devices = {place for place in there if place[1] in gpus}
    rest = {place for place in there if place[1] == "cpu"} - {(flavor, "cpu") for flavor, _ in devices}
    return [*sorted(devices, key=lambda device: (not device[1].endswith("/gpu"), device)), *sorted(rest)]
