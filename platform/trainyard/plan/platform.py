"""Changes of clusters, teams and the repository in the words of their files, and what each does to runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.documents.differences import FieldChange, flat, told
from trainyard.findings import counted, format_path
from trainyard.manifests import value_at
from trainyard.plan.dangers import LEVELS
from trainyard.plan.effects import SpecChange
from trainyard.plan.rebuild import Asked
from trainyard.plan.shape import VENDORS
from trainyard.quantities import Quantity
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.models.team import DEFAULT, STRICTEST
from trainyard.specs.shapes import known
from trainyard.system.repository import CLUSTERS, SETTINGS, TEAMS
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
AT_ONCE = "counts at once, for pods that run too"
NEW_PODS = "counts for every pod that is made from now on, those of running jobs that restart too"
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


def spec_changes(files: Mapping[str, tuple[Any, Any]], site: Site) -> Iterator[SpecChange]:
    """Yield what changes in the files of clusters, teams and the repository, each given as before and after."""
    for file, (before, after) in sorted(files.items()):
        name = file.rpartition("/")[2].removesuffix(".yaml")
        if file.startswith(f"{CLUSTERS}/"):
            yield from whole(
                file, (name,), f"cluster {name}", before, after, ClusterWords(file, name, before, after, site).changes
            )
        elif file.startswith(f"{TEAMS}/"):
            yield from whole(file, (), f"team {name}", before, after, TeamWords(file, name, before, after).changes)
        elif file == SETTINGS:
            yield from settings(file, before, after)


def whole(
    file: str,
    clusters: tuple[str, ...],
    what: str,
    before: Any,
    after: Any,
    changes: Callable[[], Iterable[SpecChange]],
) -> Iterator[SpecChange]:
    """Yield that a file is new or gone, else what changes in it."""
    if not isinstance(before, Mapping) and isinstance(after, Mapping):
        yield SpecChange(file, clusters, f"{what} is new")
    elif isinstance(before, Mapping) and after is None:
        yield SpecChange(file, clusters, f"{what} goes")
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from changes()


NAMED = 1
"""How deep in a file things have names: one that is new is told as a whole."""


def filled(before: Any, after: Any, depth: int = 0) -> tuple[Any, Any]:
    """Return two specs in which maps and lists that one of them has not are empty, so that what is in them is told."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return before, after
    old, new = dict(before), dict(after)
    for key in {*before, *after}:
        if depth != NAMED:
            for one, two in ((old, new), (new, old)):
                if key not in one and isinstance(two[key], (Mapping, list)):
                    one[key] = type(two[key])()
        if key in old and key in new:
            old[key], new[key] = filled(old[key], new[key], depth + 1)
    return old, new


def phrase(what: str, each: FieldChange) -> str:
    """Return a field that differs in words: `what: 4 -> 8`."""
    lead = f"{what}: " if what else ""
    if each.closed:
        return f"{lead}changes"
    if each.after is None:
        return f"{lead}{each.before} removed"
    return f"{lead}{each.after} added" if each.before is None else f"{lead}{each.before} -> {each.after}"


def waiver(each: FieldChange, where: str, after: Any) -> tuple[str, str] | None:
    """Return what is said of a waiver, and why a reviewer should see it; None where a field is none."""
    if each.way[:1] != ("waive",) or len(each.way) < 2:
        return None
    rule = str(each.way[1])
    if each.after is None:
        return f"{where} waives {rule} no more", ""
    return f"{where} waives {rule}: {flat(value_at(after, each.way))}", f"{where} waives {rule}"


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


@dataclass(frozen=True)
class TeamWords:
    """The two versions of one team's file."""

    file: str
    name: str
    before: Any
    after: Any

    def changes(self) -> Iterator[SpecChange]:
        """Yield what changes, each once."""
        seen = set()
        for each in told(*filled(self.before, self.after)):
            what, reach, danger = self.words(each)
            if what and what not in seen:
                seen.add(what)
                yield SpecChange(self.file, (), what, reach, danger, each.way[0] in {"podSecurity", "group"})

    def words(self, each: FieldChange) -> tuple[str, str, str]:
        """Return what changes, what it does to pods, and why a reviewer should stop here."""
        if (found := waiver(each, f"team {self.name}", self.after)) is not None:
            return found[0], "", found[1]
        match each.way:
            case ("podSecurity", *cluster):
                where = f" on {cluster[0]}" if cluster and cluster[0] != DEFAULT else ""
                known = replace(each, before=each.before or STRICTEST, after=each.after or STRICTEST)
                what = phrase(f"pod security of team {self.name}{where}", known)
                return what if known.before != known.after else "", NEW_PODS, self.level(known, where)
            case ("volumes", str(volume)):
                known = value_at(self.after, each.way)
                said = f": {flat(value_at(known, ('size',)))} of storage {flat(value_at(known, ('storage',)))}"
                return f"volume {volume} of team {self.name} {'is new' + said if known else 'goes'}", "", ""
            case ("volumes", str(volume), "size"):
                reach = "it grows in place, under what runs" if grows(each) else "no cluster shrinks a volume"
                return phrase(f"volume {volume} of team {self.name}", each), reach, ""
            case ("egress", int()) if each.before is None or each.after is None:
                opened = value_at(self.after if each.before is None else self.before, each.way)
                more = "too" if each.before is None else "no more"
                return f"pods of team {self.name} may reach {peer(opened)} {more}", AT_ONCE, ""
            case ("egress", *_):
                return phrase(f"team {self.name}: {each.path}", each), AT_ONCE, ""
            case ("group",):
                what = f"people of team {self.name}"
                return (
                    phrase(what, each),
                    "",
                    f"who may act for team {self.name} changes: {each.before} -> {each.after}",
                )
            case ("python",) if each.after == "true":
                return (
                    f"jobs of team {self.name} may be programs",
                    "",
                    f"programs of team {self.name} run when specs are read",
                )
        return phrase(f"team {self.name}: {each.path}", each), "", ""

    def level(self, each: FieldChange, where: str) -> str:
        """Return that pods may more than before."""
        known = [LEVELS.index(side) if side in LEVELS else 0 for side in (each.before, each.after)]
        loose = known[1] > known[0]
        return f"pod security of team {self.name}{where} is loosened: {each.before} -> {each.after}" if loose else ""


def grows(each: FieldChange) -> bool:
    """Say whether a size becomes larger; one that cannot be read is told elsewhere."""
    try:
        return Quantity.parse(each.after or "0") > Quantity.parse(each.before or "0")
    except ValueError:
        return True


def peer(opened: Any) -> str:
    """Return what pods may reach in words."""
    known = opened if isinstance(opened, Mapping) else {}
    where = f"namespace {flat(known['namespace'])}" if "namespace" in known else flat(known.get("cidr"))
    ports = known.get("ports")
    return f"{where}, port {' and '.join(map(flat, ports))}" if isinstance(ports, list) and ports else where


def settings(file: str, before: Any, after: Any) -> Iterator[SpecChange]:
    """Yield what changes in the repository's own file."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    for each in told(*filled(before, after)):
        if (found := waiver(each, "the repository", after)) is not None:
            yield SpecChange(file, (), found[0], "", found[1])
            continue
        match each.way:
            case ("policies", str(policy)) if each.after is not None:
                yield SpecChange(
                    file,
                    (),
                    f"policy {policy} is off: {flat(value_at(after, each.way))}",
                    "",
                    f"policy {policy} is switched off",
                )
            case ("policies", str(policy)):
                yield SpecChange(file, (), f"policy {policy} is on again")
            case ("registries", *_):
                more = f"images may come from {each.after} too" if each.after is not None else ""
                yield SpecChange(file, (), phrase("registries", each), "", more)
            case _:
                yield SpecChange(file, (), phrase(each.path, each))
