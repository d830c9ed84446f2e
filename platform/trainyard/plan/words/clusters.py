"""Changes of a cluster in the words of its file, and what each does to runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.documents.differences import FieldChange, flat, told
from trainyard.findings import counted, format_path
from trainyard.manifests import value_at
from trainyard.plan.decide.rebuild import Asked
from trainyard.plan.effects import SpecChange
from trainyard.plan.read.shape import VENDORS
from trainyard.plan.words.fields import filled, phrase, waiver
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import known
from trainyard.tree.ledgers import JobKey
from trainyard.versions import order

UNITS = {"gpus": "GPUs", "nodes": "nodes", "cpus": "CPUs", "memory": "memory"}
"""What quota is counted in, as people say it."""

LIMITS = {
    "nominalQuota": "quota of {} on {}",
    "borrowingLimit": "what {} borrows of {}",
    "lendingLimit": "what {} lends of {}",
}
"""The fields of a queue that hold amounts of pools."""

ADMISSION = "counts for what is admitted from now on; what runs goes on"
CONTROLLERS = "the controllers of running jobs are replaced; their pods go on"


@dataclass(frozen=True)
class Site:
    """What is known of the clusters at hand: their specs, where those can be read, and what runs on them."""

    live: bool
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    asked: Mapping[JobKey, Asked] = field(default_factory=dict)

    def next(self, cluster: str, what: str, fits: Callable[[Asked], bool] = lambda _: True) -> str:
        """Say that runs which are there stay as they are, and how many jobs get a change with their next."""
        jobs = sum(key[0] == cluster and fits(each) for key, each in self.asked.items())
        if not self.live or not jobs:
            return ""
        its = (
            "its run stays as it is, and its next one follows"
            if jobs == 1
            else "their runs stay as they are, and their next ones follow"
        )
        return f"{counted(jobs, 'job')} {what}: {its}"


@dataclass(frozen=True)
class ClusterWords:
    """The two versions of one cluster's file."""

    file: str
    name: str
    before: Any
    after: Any
    site: Site

    def changes(self) -> Iterator[SpecChange]:
        """Yield what changes, each once."""
        seen = set()
        for each in told(*filled(self.before, self.after)):
            what, reach, danger = self.words(each)
            if what not in seen:
                seen.add(what)
                yield SpecChange(self.file, (self.name,), what, reach, danger)

    def words(self, each: FieldChange) -> tuple[str, str, str]:
        """Return what changes, what it does to runs, and why a reviewer should stop here."""
        if (found := waiver(each, self.name, self.after)) is not None:
            return found[0], "", found[1]
        match each.way:
            case ("queues", str(queue), *rest):
                return self.queue(each, queue, tuple(rest))
            case ("pools", str(pool), *rest):
                return self.pool(each, pool, tuple(rest))
            case ("operators", str(operator), *rest):
                return self.operator(each, operator, tuple(rest))
            case ("kubernetes",):
                back = "Kubernetes goes back" if is_back(each) else ""
                return (
                    phrase("Kubernetes", each),
                    "who runs the cluster upgrades it; objects are judged by the new one",
                    back,
                )
            case ("fabric", *rest):
                reach = self.site.next(self.name, "on its training network", on_fabric)
                return phrase(format_path(("fabric", *rest)), each), reach, self.fabric()
            case ("priorities", str(priority)):
                return phrase(f"priority {priority}", each), ADMISSION, ""
            case ("argocd", *_):
                return phrase(each.path, each), "how the cluster is synced", ""
        return phrase(each.path, each), self.site.next(self.name, "of the cluster"), ""

    def fabric(self) -> str:
        """Return that a change of the network is under what runs, where something does."""
        runs = sum(key[0] == self.name and on_fabric(each) for key, each in self.site.asked.items())
        return (
            f"the training network of {self.name} changes under {counted(runs, 'run')}"
            if runs and self.site.live
            else ""
        )

    def queue(self, each: FieldChange, queue: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return what changes in a queue."""
        jobs = self.site.next(self.name, f"of queue {queue}", lambda asked: asked.queue == queue)
        match rest:
            case ():
                return f"queue {queue} {'is new' if each.before is None else 'goes'}", ADMISSION, ""
            case (str(limit), str(pool), *_) if limit in LIMITS:
                what = LIMITS[limit].format(queue, pool)
                return f"{what}: {self.amounts(queue, limit, pool)}{self.total(pool)}", ADMISSION, ""
            case ("teams", *_):
                if each.before is not None and each.after is not None:
                    return f"queue {queue} admits team {each.after} in place of {each.before}", ADMISSION, ""
                team, more = (each.after, "too") if each.before is None else (each.before, "no more")
                return f"queue {queue} admits team {team} {more}", ADMISSION, ""
            case ("stopPolicy",):
                drained = (
                    f"queue {queue} of {self.name} is drained: what runs in it is ended"
                    if each.after == "HoldAndDrain"
                    else ""
                )
                return phrase(f"queue {queue}: stopPolicy", each), "" if drained else ADMISSION, drained
            case ("scheduler",):
                return phrase(f"queue {queue}: scheduler", each), jobs, ""
        return phrase(f"queue {queue}: {format_path(rest)}", each), ADMISSION, ""

    def amounts(self, queue: str, limit: str, pool: str) -> str:
        """Return an amount before and after: `64 -> 72 GPUs`."""
        old, new = (value_at(side, ("queues", queue, limit, pool)) for side in (self.before, self.after))
        if isinstance(old, Mapping) and isinstance(new, Mapping) and old.keys() == new.keys() and len(old) == 1:
            (unit,) = new
            return f"{flat(old[unit])} -> {flat(new[unit])} {UNITS.get(unit, unit)}"
        return " -> ".join(amount(side) for side in (old, new))

    def total(self, pool: str) -> str:
        """Return what all queues have together of a pool, and how much there is."""
        cluster = self.site.clusters.get(self.name)
        there = cluster.pools.get(pool) if cluster else None
        if cluster is None or there is None or not known(there.shape):
            return ""
        cards = there.node.gpus.count if there.node.gpus else 0
        sums = 0
        holders = [each.nominal_quota for each in cluster.queues.values()]
        holders += [each.nominal_quota for each in cluster.cohorts.values()]
        for quota in (each.get(pool) for each in holders):
            if quota is None:
                continue
            if quota.cpus is not None:
                return ""
            sums += quota.gpus if quota.gpus is not None else (quota.nodes or 0) * (cards or 1)
        return f"; all queues {sums} of {there.nodes * (cards or 1)}{'' if cards else ' nodes'}"

    def pool(self, each: FieldChange, pool: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return what changes in a pool of nodes."""
        jobs = self.site.next(self.name, f"of pool {pool}", lambda asked: pool in asked.pools)
        match rest:
            case ():
                known = self.site.clusters.get(self.name)
                said = f": {nodes(known.pools[pool])}" if known and pool in known.pools else ""
                return f"pool {pool} {'is new' + said if each.before is None else 'goes'}", "", ""
            case ("nodes",):
                return (
                    f"pool {pool}: {each.before} -> {each.after} nodes",
                    "quota decides what is admitted, not nodes",
                    "",
                )
            case ("pricePerGpuHour",):
                return phrase(f"price of a GPU hour in pool {pool}", each), "", ""
        return phrase(f"pool {pool}: {format_path(rest)}", each), jobs, ""

    def operator(self, each: FieldChange, operator: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return what changes in an operator."""
        match rest:
            case ():
                return f"operator {operator} {'is new' if each.before is None else 'goes'}", "", ""
            case ("version",):
                back = (
                    f"operator {operator} of {self.name} goes back: {each.before} -> {each.after}"
                    if is_back(each)
                    else ""
                )
                return phrase(f"operator {operator}", each), CONTROLLERS, back
        return phrase(f"operator {operator}: {format_path(rest)}", each), CONTROLLERS, ""


def on_fabric(asked: Asked) -> bool:
    """Say whether a run asks for devices that are no GPUs: NICs of the training network."""
    names = {name for amounts in asked.pools.values() for name in amounts}
    return any("/" in name and not name.startswith(VENDORS) for name in names)


def nodes(pool: Pool) -> str:
    """Return the nodes of a pool in words."""
    shape = pool.shape if isinstance(pool.shape, str) else "a shape of its own"
    return f"{counted(pool.nodes, 'node')} of {shape}"


def amount(value: Any) -> str:
    """Return an amount of a pool in words."""
    if not isinstance(value, Mapping) or not value:
        return "nothing"
    return " and ".join(f"{flat(item)} {UNITS.get(str(key), str(key))}" for key, item in value.items())


def is_back(each: FieldChange) -> bool:
    """Say whether a version becomes an older one."""
    return each.before is not None and each.after is not None and order(each.after) < order(each.before)
