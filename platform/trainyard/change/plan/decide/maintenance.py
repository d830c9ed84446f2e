"""The runs on nodes that a change takes out: which end, what each repeats, and which hold their node up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.findings import count_of
from trainyard.base.manifests import value_at
from trainyard.base.system.repository import cluster_file
from trainyard.base.versions import line
from trainyard.change.maintenance import hardware, software
from trainyard.change.maintenance.outage import Outage
from trainyard.change.maintenance.windows import begins
from trainyard.change.plan.decide.rebuild import Asked
from trainyard.change.plan.effects import Interrupted, Maintenance
from trainyard.change.plan.read import lost_work
from trainyard.change.plan.read.change import Change
from trainyard.change.plan.read.requests import OR
from trainyard.change.plan.read.shape import VENDORS, Shape
from trainyard.change.plan.read.two_sides import Run, Sides, plain
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs import Cluster
from trainyard.upstream.pods.selection import selects

HARDWARE, NODES = "hardware", "nodes"


def maintenance(change: Change, asked: Mapping[JobKey, Asked]) -> Iterator[Maintenance]:
    """Yield the nodes that a change takes out, cluster by cluster, with the runs there.

    Of a cluster that is new, or whose file cannot be read, nothing is said.
    """
    sides = change.sides
    there = {path.partition("/")[0] for path in sides.base.files}
    for name, cluster in sorted(change.clusters.items()):
        if name not in there:
            continue
        found = [*hardware.outages(cluster, pairs(sides, name)), *software.settings(cluster, edited_pools(sides, name))]
        before = old_minor(sides, name)
        if before and line(before) != cluster.minor:
            found += software.kubernetes(cluster, line(before), cluster.minor)
        budgets = list(disruption_budgets(sides, name)) if found else []
        for outage in found:
            yield put_together(sides, name, cluster, outage, asked, budgets)


def pairs(sides: Sides, cluster: str) -> Iterator[hardware.Pair]:
    """Yield the objects of `hardware/` that differ, before and after."""
    folder = f"{cluster}/{HARDWARE}"
    old, new = sides.base.folder(folder), sides.now.folder(folder)
    for name in sorted(dict(old.items() ^ new.items())):
        path = f"{folder}/{name}"
        yield plain(sides.base.text(path), path), plain(sides.now.text(path), path)


def edited_pools(sides: Sides, cluster: str) -> list[str]:
    """Return the pools whose files for nodes differ; a pool that is new has no nodes to take out."""
    found = set()
    old, new = sides.base.of_cluster(cluster), sides.now.of_cluster(cluster)
    for path in dict(old.items() ^ new.items()):
        parts = path.split("/")
        if parts[1:2] == [NODES] and len(parts) > 3 and sides.base.folder("/".join(parts[:3])):
            found.add(parts[2])
    return sorted(found)


def old_minor(sides: Sides, cluster: str) -> str | None:
    """Return the version of Kubernetes that a cluster's file had at the base, or one of the files below it."""
    seen: set[str] = set()
    while cluster not in seen:
        seen.add(cluster)
        value = sides.values(cluster_file(cluster))[0]
        version, below = value_at(value, ("kubernetes",)), value_at(value, ("base",))
        if isinstance(version, str) or not isinstance(below, str):
            return version if isinstance(version, str) else None
        cluster = below
    return None


def disruption_budgets(sides: Sides, cluster: str) -> Iterator[Mapping[str, Any]]:
    """Yield the PodDisruptionBudgets that forbid every eviction, of all folders of a cluster."""
    for path in sides.now.of_cluster(cluster):
        if path.rpartition("/")[2].startswith("poddisruptionbudget."):
            value = plain(sides.now.text(path), path)
            spec = value_at(value, ("spec",))
            if value_at(spec, ("maxUnavailable",)) in {0, "0%"} or value_at(spec, ("minAvailable",)) == "100%":
                yield value


def put_together(
    sides: Sides,
    name: str,
    cluster: Cluster,
    outage: Outage,
    asked: Mapping[JobKey, Asked],
    budgets: Iterable[Mapping[str, Any]],
) -> Maintenance:
    """Return an outage with the runs that it ends, those that lose most first."""
    ends = [key for key in asked if key[0] == name and key in sides.base.active and is_ended(outage, asked[key])]
    there = sides.runs({key: sides.now.active[key] for key in ends}, old=False)
    runs = [interrupted(cluster, run, outage, budgets) for run in there.values()]
    runs.sort(key=lambda run: (not run.stuck, run.lost != "all", -(run.lost_gpu_hours or 0), run.team, run.run))
    return Maintenance(
        name,
        outage.pools,
        outage.nodes,
        outage.what,
        outage.by,
        outage.how,
        outage.at_a_time,
        outage.rounds,
        begins(cluster, outage),
        tuple(runs),
        hold(runs, sorted({asked[key].queue for key in ends if asked[key].queue})),
    )


def is_ended(outage: Outage, request: Asked) -> bool:
    """Whether an outage ends a run: it asks for something on nodes of those pools whose pods leave."""
    amounts = [amounts for pool, amounts in request.pools.items() if set(pool.split(OR)) & {*outage.pools}]
    names = {resource for found in amounts for resource in found}
    match outage.ends:
        case "all pods":
            return bool(amounts)
        case "pods with GPUs":
            return any(resource.startswith(VENDORS) for resource in names)
        case "pods with virtual functions":
            return any("/" in resource and not resource.startswith(VENDORS) for resource in names)
        case _:
            return False


def interrupted(cluster: Cluster, run: Run, outage: Outage, budgets: Iterable[Mapping[str, Any]]) -> Interrupted:
    """Return a run as it is each time that one of its nodes is taken out."""
    shape, loss = run.shape, lost_work.when_preempted(run.shape, run.job)
    hours = shape.hours
    if hours is None and isinstance(value_at(run.job, ("maxHours",)), (int, float)):
        hours = float(run.job["maxHours"])
    stuck = tuple(why_stuck(cluster.namespace_of(run.key[1]), shape, outage, budgets))
    return Interrupted(run.key[1], run.entry.name, shape.gpus, loss.words, loss.lost, loss.gpu_hours, hours, stuck)


def why_stuck(namespace: str, shape: Shape, outage: Outage, budgets: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield why pods of a run do not leave their node, or not in time."""
    if outage.keeps_local and shape.local:
        yield f"pods have an emptyDir, and deleteEmptyDir is off: {outage.then}"
    if outage.seconds is not None and shape.grace > outage.seconds:
        yield f"pods have {shape.grace} seconds to end, and the limit is {outage.seconds}: {outage.then}"
    for budget in budgets if outage.budgets else ():
        where, selector = value_at(budget, ("metadata", "namespace")), value_at(budget, ("spec", "selector"))
        if where == namespace and any(selects(selector, labels) for labels in shape.labels):
            named = value_at(budget, ("metadata", "name"))
            end = f"after {outage.seconds} seconds {outage.then}" if outage.seconds else "the node waits without end"
            yield f"PodDisruptionBudget {named} allows no eviction: {end}"


def hold(runs: Iterable[Interrupted], queues: Iterable[str]) -> str:
    """Return how the runs could end by themselves before: their queues are held for as long as the longest lasts."""
    found = list(runs)
    if not found:
        return ""
    endless = [f"{run.team}/{run.run}" for run in found if run.hours is None]
    named = ", ".join(queues)
    if endless:
        rest = f" and {len(endless) - 1} more" if len(endless) > 1 else ""
        return f"{count_of(len(endless), 'run')} without a deadline cannot be waited for: {endless[0]}{rest}"
    longest = max(run.hours or 0 for run in found)
    return f"stop queues {named} (stopPolicy: Hold) {longest:g} hours before, and no run is interrupted"
