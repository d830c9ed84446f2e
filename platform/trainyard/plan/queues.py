"""Each queue's quota against what all active runs ask of it, before and after a change: sums, and no more.

What Kueue would admit first, what waits behind whom, and whether nodes have room is not looked at here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.manifests import value_at
from trainyard.plan.asks import listed
from trainyard.plan.effects import QueueRow
from trainyard.plan.rebuild import Asked
from trainyard.plan.shape import VENDORS
from trainyard.plan.sides import plain
from trainyard.quantities import Quantity
from trainyard.tree.ledgers import JobKey
from trainyard.tree.snapshot import Snapshot

WHOLE = frozenset({"nvidia.com/gpu", "amd.com/gpu"})
"""Resources of whole GPUs, which people call by that name."""

Place = tuple[str, str]
"""A pool and a resource; of a queue that knows no pools, no pool."""


@dataclass
class Quota:
    """What one queue has, by pool and resource."""

    nominal: dict[Place, float] = field(default_factory=dict)
    limit: dict[Place, float] = field(default_factory=dict)
    """The most that it borrows, where that is limited."""
    cohort: str = ""
    held: bool = False
    """Whether it admits nothing."""


@dataclass
class Quotas:
    """All queues of a cluster, and what their cohorts have of their own."""

    queues: dict[str, Quota] = field(default_factory=dict)
    cohorts: dict[str, Quota] = field(default_factory=dict)

    def most(self, name: str, place: Place) -> float:
        """Return the most that a queue can ever have of something: its own, and what it may borrow of all others."""
        queue = self.queues[name]
        own = queue.nominal.get(place, 0)
        if not queue.cohort:
            return own
        top = self.root(queue.cohort)
        others = sum(
            each.nominal.get(place, 0)
            for each in (*self.queues.values(), *self.cohorts.values())
            if each is not queue and each.cohort and self.root(each.cohort) == top
        )
        roots = self.cohorts.get(top)
        others += roots.nominal.get(place, 0) if roots is not None and not roots.cohort else 0
        return own + min(others, queue.limit.get(place, others))

    def root(self, cohort: str) -> str:
        """Return the cohort at the top of a tree of them."""
        seen = {cohort}
        while (found := self.cohorts.get(cohort)) is not None and found.cohort and found.cohort not in seen:
            cohort = found.cohort
            seen.add(cohort)
        return cohort


def quotas(side: Snapshot, cluster: str) -> Quotas:
    """Return the quotas of a cluster, told from its objects."""
    found = Quotas()
    kinds = {"clusterqueue": found.queues, "queue": found.queues, "cohort": found.cohorts}
    names = [name for name in side.folder(f"{cluster}/platform") if name.partition(".")[0] in kinds]
    for name, data in zip(names, side.contents([f"{cluster}/platform/{each}" for each in names]), strict=True):
        value = plain(data, name)
        said = value_at(value, ("metadata", "name"))
        if isinstance(said, str):
            kinds[name.partition(".")[0]][said] = quota(value)
    return found


def quota(value: Mapping[str, Any]) -> Quota:
    """Return what a ClusterQueue, a Cohort or a Queue of Volcano's has."""
    spec = value.get("spec") if isinstance(value.get("spec"), Mapping) else {}
    cohort = value_at(spec, ("cohortName",)) or value_at(spec, ("parentName",))
    found = Quota(cohort=cohort if isinstance(cohort, str) else "")
    found.held = value_at(spec, ("stopPolicy",)) not in {None, "None"}
    for group in listed(value_at(spec, ("resourceGroups",))):
        for flavor in listed(value_at(group, ("flavors",))):
            for each in listed(value_at(flavor, ("resources",))):
                place = str(value_at(flavor, ("name",))), str(value_at(each, ("name",)))
                found.nominal[place] = number(value_at(each, ("nominalQuota",))) or 0
                limit = number(value_at(each, ("borrowingLimit",)))
                if limit is not None:
                    found.limit[place] = limit
    capability = value_at(spec, ("capability",))
    for name, amount in (capability if isinstance(capability, Mapping) else {}).items():
        found.nominal["", str(name)] = number(amount) or 0
    return found


def number(text: Any) -> float | None:
    """Return a quantity as a number, None where it is none."""
    try:
        return float(Quantity.parse(text).amount)
    except (ValueError, TypeError):
        return None


def rows(
    base: Snapshot, now: Snapshot, clusters: Iterable[str], asked: tuple[Mapping[JobKey, Asked], Mapping[JobKey, Asked]]
) -> Iterator[QueueRow]:
    """Yield the rows in which a quota, or what is asked of it, changes on some clusters."""
    for cluster in sorted(clusters):
        sides = [quotas(side, cluster) for side in (base, now)]
        wants = [wanted(each, cluster, known) for each, known in zip(asked, sides, strict=True)]
        names = sorted({*sides[0].queues, *sides[1].queues})
        yield from (
            row
            for name in names
            for place in places(name, sides, wants)
            if differs(row := row_of(cluster, name, place, sides, wants))
        )


def differs(row: QueueRow) -> bool:
    """Say whether a row says anything of a change."""
    return (row.quota_before, row.asked_before) != (row.quota_after, row.asked_after)


Wanted = Mapping[tuple[str, Place], list[tuple[float, str]]]
"""What runs ask for, each with its name, by queue and place."""


def wanted(asked: Mapping[JobKey, Asked], cluster: str, known: Quotas) -> Wanted:
    """Return what runs on a cluster ask of each queue, of that by which people count: GPUs, or else CPUs."""
    found: dict[tuple[str, Place], list[tuple[float, str]]] = defaultdict(list)
    for (where, team, job), each in asked.items():
        if where != cluster:
            continue
        own = known.queues.get(each.queue, Quota()).nominal
        for pool, amounts in each.pools.items():
            flavor = "" if any(not place[0] for place in own) else pool
            for name in counted(amounts):
                found[each.queue, (flavor, name)].append((amounts[name], f"{team}/{job}"))
    return found


def counted(amounts: Mapping[str, float]) -> list[str]:
    """Return the resources by which people count what runs ask for: GPUs and parts of them, or else CPUs."""
    gpus = sorted(name for name, amount in amounts.items() if name.startswith(VENDORS) and amount)
    return gpus or (["cpu"] if amounts.get("cpu") else [])


def places(name: str, sides: Iterable[Quotas], wants: Iterable[Wanted]) -> list[Place]:
    """Return what of a queue people count: of each pool its GPUs, and its CPUs where it has none or they are asked."""
    found = {place for each in wants for queue, place in each if queue == name}
    for side in sides:
        own = side.queues[name].nominal if name in side.queues else {}
        for pool in {pool for pool, _ in own}:
            found |= {
                (pool, each) for each in counted({what: amount for (at, what), amount in own.items() if at == pool})
            }
    return sorted(found)


def row_of(cluster: str, name: str, place: Place, sides: list[Quotas], wants: list[Wanted]) -> QueueRow:
    """Return one row."""
    before, after = (side.queues.get(name) for side in sides)
    runs = wants[1].get((name, place), [])
    largest, run = max(runs, default=(0.0, ""))
    return QueueRow(
        cluster,
        name,
        place[0],
        "GPUs" if place[1] in WHOLE else "CPUs" if place[1] == "cpu" else place[1],
        before.nominal.get(place, 0) if before else None,
        after.nominal.get(place, 0) if after else None,
        sum(amount for amount, _ in wants[0].get((name, place), [])),
        sum(amount for amount, _ in runs),
        sides[1].most(name, place) if after else None,
        largest,
        run,
        held=after is not None and after.held,
    )


def verdict(row: QueueRow) -> str:
    """Say what a row comes to by its sums alone: an estimate, until somebody asks how Kueue decides."""
    if row.quota_after is None:
        return "the queue goes"
    if row.held:
        return "the queue admits nothing"
    if row.most is not None and row.largest > row.most:
        return f"never: {row.largest_run} asks {row.largest:g} of at most {row.most:g}"
    over = row.asked_after - row.quota_after
    if over <= 0:
        return "all within quota"
    spare = (row.most or row.quota_after) - row.quota_after
    return f"{over:g} over quota: " + (
        f"up to {spare:g} may be borrowed, the rest waits" if spare > 0 else "that waits"
    )
