"""Changes of a cluster in the words of its file, and what each does to runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents.differences import FieldChange, field_changes, flat
from trainyard.base.findings import count_of, format_path
from trainyard.base.manifests import value_at
from trainyard.base.versions import order
from trainyard.change.plan.decide.rebuild import Asked
from trainyard.change.plan.effects import SpecChange
from trainyard.change.plan.read.shape import VENDORS
from trainyard.change.plan.words.fields import fill, phrase, waiver
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import is_known_shape

UNITS = {"gpus": "GPUs", "nodes": "nodes", "cpus": "CPUs", "memory": "memory"}
"""What quota is counted in, as people say it."""

LIMITS = {
    "nominalQuota": "quota of queue {} in pool {}",
    "borrowingLimit": "borrowing limit of queue {} in pool {}",
    "lendingLimit": "lending limit of queue {} in pool {}",
}
"""The fields of a queue that hold amounts of pools."""

ADMISSION = "applies to jobs that are admitted from now on; running jobs continue"
CONTROLLERS = "the operator's own pods are replaced; training pods continue"


@dataclass(frozen=True)
class Site:
    """What is known of the clusters at hand: their specs, where those can be read, and what runs on them."""

    live: bool
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    asked: Mapping[JobKey, Asked] = field(default_factory=dict)

    def next(self, cluster: str, what: str, fits: Callable[[Asked], bool] = lambda _: True) -> str:
        """Say that runs which are there stay as they are, and how many jobs get a change with their next."""
        jobs = sum(key[0] == cluster and fits(request) for key, request in self.asked.items())
        if not self.live or not jobs:
            return ""
        its = (
            "its current run stays as it is; the change applies to its next run"
            if jobs == 1
            else "their current runs stay as they are; the change applies to their next runs"
        )
        return f"{count_of(jobs, 'job')} {what}: {its}"


@dataclass(frozen=True)
class ClusterWords:
    """The two versions of one cluster's file."""

    file: str
    name: str
    before: Any
    after: Any
    site: Site

    def changes(self) -> Iterator[SpecChange]:
        """Yield the changes of the file, each once."""
        seen = set()
        for item in field_changes(*fill(self.before, self.after)):
            what, reach, danger = self.words(item)
            if what not in seen:
                seen.add(what)
                yield SpecChange(self.file, (self.name,), what, reach, danger)

    def words(self, field_change: FieldChange) -> tuple[str, str, str]:
        """Return a change in words, its effect on runs, and its danger."""
        if (found := waiver(field_change, self.name, self.after)) is not None:
            return found[0], "", found[1]
        match field_change.way:
            case ("queues", str(queue), *rest):
                return self.queue(field_change, queue, tuple(rest))
            case ("pools", str(pool), *rest):
                return self.pool(field_change, pool, tuple(rest))
            case ("operators", str(operator), *rest):
                return self.operator(field_change, operator, tuple(rest))
            case ("kubernetes",):
                back = (
                    f"Kubernetes of {self.name} is downgraded: {field_change.before} → {field_change.after}"
                    if is_back(field_change)
                    else ""
                )
                reach = "manifests are now checked against this release; Trainyard does not upgrade the cluster"
                return phrase("Kubernetes", field_change), reach, back
            case ("fabric", *rest):
                reach = self.site.next(self.name, "on its training network", on_fabric)
                return phrase(format_path(("fabric", *rest)), field_change), reach, self.fabric()
            case ("priorities", str(priority)):
                return phrase(f"priority {priority}", field_change), ADMISSION, ""
            case ("argocd", *_):
                return phrase(field_change.path, field_change), "changes how Argo CD syncs the cluster", ""
            case ("topology", *_):
                reach = self.site.next(self.name, "of the cluster")
                return f"topology levels: {levels(self.before)} → {levels(self.after)}", reach, ""
        return phrase(field_change.path, field_change), self.site.next(self.name, "of the cluster"), ""

    def taints(self, pool: str) -> str:
        """Return a warning that active runs do not tolerate a taint that nodes of their pool get, if there are any."""
        old, new = (value_at(side, ("pools", pool, "taints"), []) for side in (self.before, self.after))
        added = [taint for taint in new or () if isinstance(taint, Mapping) and taint not in (old or ())]
        effects = {taint.get("effect", "NoSchedule") for taint in added} - {"PreferNoSchedule"}
        runs = sum(key[0] == self.name and pool in request.pools for key, request in self.site.asked.items())
        if not effects or not runs or not self.site.live:
            return ""
        then = "; it ends them" if "NoExecute" in effects else "; what restarts finds no node"
        return f"{count_of(runs, 'run')} of pool {pool} of {self.name} cannot tolerate the new taint{then}"

    def fabric(self) -> str:
        """Return a warning that the network of active runs changes, if there are any."""
        runs = sum(key[0] == self.name and on_fabric(request) for key, request in self.site.asked.items())
        return (
            f"the training network of {self.name} changes, which {count_of(runs, 'run')} may be using"
            if runs and self.site.live
            else ""
        )

    def queue(self, field_change: FieldChange, queue: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return the words for a change of a queue."""
        jobs = self.site.next(self.name, f"of queue {queue}", lambda asked: asked.queue == queue)
        match rest:
            case ():
                return f"queue {queue} is {'new' if field_change.before is None else 'removed'}", ADMISSION, ""
            case (str(limit), str(pool), *_) if limit in LIMITS:
                what = LIMITS[limit].format(queue, pool)
                return f"{what}: {self.amounts(queue, limit, pool)}{self.total(pool)}", ADMISSION, ""
            case ("teams", *_):
                if field_change.before is not None and field_change.after is not None:
                    return (
                        f"queue {queue} now admits team {field_change.after} instead of {field_change.before}",
                        ADMISSION,
                        "",
                    )
                team, how = (
                    (field_change.after, "now admits")
                    if field_change.before is None
                    else (field_change.before, "no longer admits")
                )
                return f"queue {queue} {how} team {team}", ADMISSION, ""
            case ("stopPolicy",):
                drained = (
                    f"queue {queue} of {self.name} is drained: its running jobs are evicted"
                    if field_change.after == "HoldAndDrain"
                    else ""
                )
                return phrase(f"queue {queue}: stopPolicy", field_change), "" if drained else ADMISSION, drained
            case ("scheduler",):
                return phrase(f"queue {queue}: scheduler", field_change), jobs, ""
        return phrase(f"queue {queue}: {format_path(rest)}", field_change), ADMISSION, ""

    def amounts(self, queue: str, limit: str, pool: str) -> str:
        """Return an amount before and after: `64 → 72 GPUs`."""
        old, new = (value_at(side, ("queues", queue, limit, pool)) for side in (self.before, self.after))
        if isinstance(old, Mapping) and isinstance(new, Mapping) and old.keys() == new.keys() and len(old) == 1:
            (unit,) = new
            return f"{flat(old[unit])} → {flat(new[unit])} {UNITS.get(unit, unit)}"
        return " → ".join(amount(side) for side in (old, new))

    def total(self, pool: str) -> str:
        """Return the quota of all queues in a pool together, and the pool's size."""
        cluster = self.site.clusters.get(self.name)
        there = cluster.pools.get(pool) if cluster else None
        if cluster is None or there is None or not is_known_shape(there.shape):
            return ""
        cards = there.node.gpus.count if there.node.gpus else 0
        sums = 0
        holders = [queue.nominal_quota for queue in cluster.queues.values()]
        holders += [cohort.nominal_quota for cohort in cluster.cohorts.values()]
        for quota in (holder.get(pool) for holder in holders):
            if quota is None:
                continue
            if quota.cpus is not None:
                return ""
            sums += quota.gpus if quota.gpus is not None else (quota.nodes or 0) * (cards or 1)
        unit = "GPUs" if cards else "nodes"
        return f"; all queues together {sums} of {there.nodes * (cards or 1)} {unit}"

    def pool(self, field_change: FieldChange, pool: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return the words for a change of a pool."""
        jobs = self.site.next(self.name, f"of pool {pool}", lambda asked: pool in asked.pools)
        match rest:
            case ():
                known = self.site.clusters.get(self.name)
                said = f": {nodes(known.pools[pool])}" if known and pool in known.pools else ""
                return f"pool {pool} {'is new' + said if field_change.before is None else 'is removed'}", "", ""
            case ("nodes",):
                return (
                    f"pool {pool}: {field_change.before} → {field_change.after} nodes",
                    "quota does not change with it",
                    "",
                )
            case ("taints", *_):
                return phrase(f"pool {pool}: {format_path(rest)}", field_change), jobs, self.taints(pool)
            case ("pricePerGpuHour",):
                return phrase(f"price of a GPU hour in pool {pool}", field_change), "", ""
        return phrase(f"pool {pool}: {format_path(rest)}", field_change), jobs, ""

    def operator(self, field_change: FieldChange, operator: str, rest: tuple[Any, ...]) -> tuple[str, str, str]:
        """Return the words for a change of an operator."""
        match rest:
            case ():
                return f"operator {operator} is {'new' if field_change.before is None else 'removed'}", "", ""
            case ("version",):
                back = (
                    f"operator {operator} of {self.name} is downgraded: {field_change.before} → {field_change.after}"
                    if is_back(field_change)
                    else ""
                )
                return phrase(f"operator {operator}", field_change), CONTROLLERS, back
        return phrase(f"operator {operator}: {format_path(rest)}", field_change), CONTROLLERS, ""


def on_fabric(asked: Asked) -> bool:
    """Say whether a run asks for devices that are no GPUs: NICs of the training network."""
    names = {name for amounts in asked.pools.values() for name in amounts}
    return any("/" in name and not name.startswith(VENDORS) for name in names)


def nodes(pool: Pool) -> str:
    """Return the nodes of a pool in words."""
    shape = pool.shape if isinstance(pool.shape, str) else "a custom shape"
    fewest = f"{pool.lasting_nodes} to " if pool.scales else ""
    return f"{fewest}{count_of(pool.nodes, 'node')} of {shape}"


def amount(value: Any) -> str:
    """Return an amount of a pool in words."""
    if not isinstance(value, Mapping) or not value:
        return "nothing"
    return " and ".join(f"{flat(item)} {UNITS.get(str(key), str(key))}" for key, item in value.items())


def levels(spec: Any) -> str:
    """Return the topology levels of a cluster's file, widest first."""
    topology = value_at(spec, ("topology",))
    entries = [entry for entry in topology if isinstance(entry, Mapping)] if isinstance(topology, list) else []
    return ", ".join(str(name) for entry in entries for name in entry) or "none"


def is_back(field_change: FieldChange) -> bool:
    """Say whether a version becomes an older one."""
    return (
        field_change.before is not None
        and field_change.after is not None
        and order(field_change.after) < order(field_change.before)
    )
