"""Each queue's quota, what all active runs ask of it before and after a change, and what Kueue makes of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.base.quantities import Quantity
from trainyard.change.plan.decide.decisions import Decisions, Words
from trainyard.change.plan.decide.rebuild import Asked
from trainyard.change.plan.effects import QueueRow
from trainyard.change.plan.read.requests import OR, as_list
from trainyard.change.plan.read.shape import VENDORS
from trainyard.change.plan.read.two_sides import plain
from trainyard.judge.admission.outcomes import Word
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot
from trainyard.upstream.pods.resources import WHOLE_GPUS

OTHERS: Mapping[Word, str] = {
    "fits alone": "alone",
    "may fit": "may",
    "waits for": "wait",
    "does not settle": "wait",
    "never fits": "never",
    "not judged": "unknown",
}
"""How a row counts what does not simply fit."""

NOTHING = Decisions()

QUEUES = frozenset({"clusterqueue", "queue"})
"""Kinds that have quota, Kueue's and Volcano's, as names of files begin."""

Place = tuple[str, str]
"""A pool and a resource; of a queue that knows no pools, no pool."""


@dataclass
class Quota:
    """What one queue has, by pool and resource."""

    nominal: dict[Place, float] = field(default_factory=dict)
    held: bool = False
    """Whether it admits nothing."""

    def quota(self, place: Place) -> float:
        """Return the quota of a pool, or of all pools of which runs take one."""
        return sum(self.nominal.get((pool, place[1]), 0) for pool in place[0].split(OR))


Quotas = dict[str, Quota]
"""All queues of a cluster, by name."""


def quotas(side: Snapshot, cluster: str) -> Quotas:
    """Return the quotas of a cluster, told from its objects."""
    found: Quotas = {}
    names = [name for name in side.folder(f"{cluster}/platform") if name.partition(".")[0] in QUEUES]
    for name, data in zip(names, side.contents([f"{cluster}/platform/{one_name}" for one_name in names]), strict=True):
        value = plain(data, name)
        said = value_at(value, ("metadata", "name"))
        if isinstance(said, str):
            found[said] = quota(value)
    return found


def quota(value: Mapping[str, Any]) -> Quota:
    """Return the quota of a ClusterQueue, or of a Queue of Volcano."""
    spec = value.get("spec") if isinstance(value.get("spec"), Mapping) else {}
    found = Quota(held=value_at(spec, ("stopPolicy",)) not in {None, "None"})
    for group in as_list(value_at(spec, ("resourceGroups",))):
        for flavor in as_list(value_at(group, ("flavors",))):
            for item in as_list(value_at(flavor, ("resources",))):
                place = str(value_at(flavor, ("name",))), str(value_at(item, ("name",)))
                found.nominal[place] = number(value_at(item, ("nominalQuota",))) or 0
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


Sums = tuple[Mapping[JobKey, Asked], Mapping[JobKey, Asked]]
"""What jobs ask for, before and after."""


def rows(
    base: Snapshot, now: Snapshot, clusters: Iterable[str], asked: Sums, decided: Decisions = NOTHING
) -> Iterator[QueueRow]:
    """Yield the rows in which a quota, what is asked of it, or how many of those who ask get it changes."""
    for cluster in sorted(clusters):
        sides = [quotas(side, cluster) for side in (base, now)]
        wants = [queue_requests(item, cluster, known) for item, known in zip(asked, sides, strict=True)]
        for name in sorted({*sides[0], *sides[1]}):
            for place in places(name, sides, wants):
                row = row_of(cluster, name, place, sides, wants)
                was, is_now = (
                    counts(words, want.get((name, place), ()))
                    for words, want in zip((decided.past, decided.words), wants, strict=True)
                )
                if was != is_now or (row.quota_before, row.asked_before) != (row.quota_after, row.asked_after):
                    yield with_outcomes(row, is_now)


Wanted = Mapping[tuple[str, Place], list[tuple[float, JobKey]]]
"""What jobs ask for, each with its name, by queue and place."""


def queue_requests(asked: Mapping[JobKey, Asked], cluster: str, known: Quotas) -> Wanted:
    """Return the GPUs, or else CPUs, that the runs of a cluster request of each queue."""
    found: dict[tuple[str, Place], list[tuple[float, JobKey]]] = defaultdict(list)
    for job, request in asked.items():
        if job[0] != cluster:
            continue
        own = known.get(request.queue, Quota()).nominal
        for pool, amounts in request.pools.items():
            flavor = "" if any(not place[0] for place in own) else pool
            for name in counted(amounts):
                found[request.queue, (flavor, name)].append((amounts[name], job))
    return found


def counted(amounts: Mapping[str, float]) -> list[str]:
    """Return the resources by which people count what runs ask for: GPUs and parts of them, or else CPUs."""
    gpus = sorted(name for name, amount in amounts.items() if name.startswith(VENDORS) and amount)
    return gpus or (["cpu"] if amounts.get("cpu") else [])


def places(name: str, sides: Iterable[Quotas], wants: Iterable[Wanted]) -> list[Place]:
    """Return the counted resources of a queue: per pool its GPUs, or CPUs where it has none or runs request them."""
    found = {place for want in wants for queue, place in want if queue == name}
    for side in sides:
        own = side[name].nominal if name in side else {}
        for pool in {pool for pool, _ in own}:
            found |= {
                (pool, item) for item in counted({what: amount for (at, what), amount in own.items() if at == pool})
            }
    return sorted(found)


def row_of(cluster: str, name: str, place: Place, sides: list[Quotas], wants: list[Wanted]) -> QueueRow:
    """Return one row."""
    before, after = (side.get(name) for side in sides)
    was, will_be = (sum(amount for amount, _ in want.get((name, place), [])) for want in wants)
    return QueueRow(
        cluster,
        name,
        place[0],
        "GPUs" if place[1] in WHOLE_GPUS else "CPUs" if place[1] == "cpu" else place[1],
        before.quota(place) if before else None,
        after.quota(place) if after else None,
        was,
        will_be,
        held=after is not None and after.held,
    )


def counts(words: Words, wants: Iterable[tuple[float, JobKey]]) -> Counter[str]:
    """Return how many of those who ask fit, may fit, wait and never fit."""
    found = (words[job] for _, job in wants if job in words)
    return Counter(OTHERS.get(item, "fits") for item in found)


def with_outcomes(row: QueueRow, kinds: Mapping[str, int]) -> QueueRow:
    """Return a row that says how many runs fit, fit alone, may fit, wait and never fit."""
    fit, alone, may, wait, never, unknown = (
        kinds.get(item, 0) for item in ("fits", "alone", "may", "wait", "never", "unknown")
    )
    return replace(row, fit=fit, alone=alone, may=may, wait=wait, never=never, unknown=unknown)


def verdict(row: QueueRow) -> str:
    """Return the verdicts on all runs that request a row's resource, counted by word."""
    if row.quota_after is None:
        return "the queue is removed"
    if row.held:
        return "the queue admits nothing"
    counts = [(row.fit, "fits", "fit"), (row.alone, "fits alone", "fit alone"), (row.may, "may fit", "may fit")]
    counts += [(row.wait, "waits", "wait"), (row.never, "never fits", "never fit"), (row.unknown, *("not judged",) * 2)]
    unknown = "not judged" if row.asked_after else "no runs"
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count) or unknown
