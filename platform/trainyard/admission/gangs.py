"""Jobs that Volcano starts, alone on their cluster: what their queue has against them, and the nodes of their pods.

Volcano is 1.14.1, as its chart configures it (installer/helm/chart/volcano/config/volcano-scheduler.conf): actions
enqueue, allocate and backfill; of its plugins gang, proportion and predicates decide whether such a job starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.admission.arrivals import Arrival, of_set
from trainyard.admission.bid import Bidder
from trainyard.admission.machines import Fit, Machines
from trainyard.admission.outcomes import Word
from trainyard.admission.site import Site, amounts
from trainyard.admission.witness import fewer, places
from trainyard.admission.words import some
from trainyard.errors import SpecError
from trainyard.labels import POOL
from trainyard.nodes.predicates import amount_of
from trainyard.pods.resources import CPU, in_bytes
from trainyard.scheduling import SCHEDULERS, Unplaced, Wanted
from trainyard.scheduling.gangs import Gang, Start, Task, lacking, prospects, put, room
from trainyard.sizing.node import binary

Object = Mapping[str, Any]


def against(bid: Bidder, where: Site) -> str:
    """Return what the queue of a job has against it, whoever else is there; nothing where it has room."""
    name, queues = queue_of(bid), where.of("Queue")
    if name not in queues:
        return f"queue {name} does not exist"
    if any((each.get("spec") or {}).get("parent") == name for each in queues.values()):
        return f"queue {name} has queues below it, and takes no jobs itself"
    return crowded([bid], where)


def crowded(bids: Sequence[Bidder], where: Site) -> str:
    """Return of which resource the queue of jobs has no room for all of them, devices first; nothing where it has."""
    name = queue_of(bids[0])
    for resource, asked, most in lacking([of(bid) for bid in bids], room_of(name, where)):
        has, needs = (shown(resource, amount) for amount in (most, asked))
        return f"queue {name} takes at most {has} {resource} at one time, and {needs} are needed"
    return ""


def full(bids: Iterable[Bidder], where: Site) -> dict[str, str]:
    """Return by queue of what it has no room for all its jobs at one time, though it has for each of them."""
    by_queue: dict[str, list[Bidder]] = {}
    for bid in bids:
        if not against(bid, where):
            by_queue.setdefault(queue_of(bid), []).append(bid)
    return {name: crowded(mine, where) for name, mine in by_queue.items()}


def contended(bid: Bidder, others: Sequence[str], full: Mapping[str, str]) -> str:
    """Return what is known of a job beside others that Volcano starts, to stand behind the verdict."""
    if not others:
        return ""
    why = full.get(queue_of(bid))
    return f"; Volcano decides when, beside {some(others)}" + (f"; not all at once: {why}" if why else "")


def room_of(name: str, where: Site) -> Mapping[str, int]:
    """Return what a queue gives at the most."""
    specs = {each: value.get("spec") or {} for each, value in where.of("Queue").items()}
    kept = {each: amounts((spec.get("guarantee") or {}).get("resource") or {}) for each, spec in specs.items()}
    every = Counter[str]()
    for held in kept.values():
        every.update(held)
    return room(amounts(specs[name].get("capability") or {}), where.offered, kept[name], every)


def shown(resource: str, amount: int) -> str:
    """Return an amount as people write it."""
    if in_bytes(resource):
        return binary(amount)
    return f"{amount / 1000:g}" if resource == CPU else str(amount)


def alone(bid: Bidder, machines: Machines) -> Fit:
    """Return where the pods of a job go, and leave everything as it was.

    Nothing is said where its queue has something against it, or a patch makes a pod none.
    """
    pods = arrivals(bid, machines.where)
    if not pods or against(bid, machines.where):
        return Fit()
    found: dict[bool, Start] = {}
    for each in prospects(machines.nodes, of(bid, pods), room_of(queue_of(bid), machines.where)):
        found.setdefault(each.starts, each)
        if len(found) == 2:
            break
    fits = {starts: fit(each, pods, len(machines.nodes.hosts)) for starts, each in found.items()}
    return replace(fits[True], otherwise=fits.get(False)) if True in fits else fits[False]


def fill(bids: Iterable[Bidder], machines: Machines) -> dict[str, Fit]:
    """Put the pods of jobs on nodes as long as their queues have room, one after the other, and say where; by job."""
    found, there = dict[str, Fit](), dict[str, list[Bidder]]()
    for bid in bids:
        pods, mine = arrivals(bid, machines.where), there.setdefault(queue_of(bid), [])
        if pods and not against(bid, machines.where) and not crowded([bid, *mine], machines.where):
            start = put(machines.nodes, of(bid, pods), room_of(queue_of(bid), machines.where), SCHEDULERS, None)
            found[bid.name] = fit(start, pods, len(machines.nodes.hosts))
            if start.starts:
                mine.append(bid)
    return found


def fit(start: Start, pods: Sequence[Arrival], hosts: int) -> Fit:
    """Return what becomes of a gang, by its pod sets."""
    missing = [(pods[number], each) for number, each in start.missing]
    if start.full is not None:
        missing.append((pods[start.full], Unplaced({"no room in the queue beside others of its job": hosts})))
    return Fit([(pods[number], each) for number, each in start.placed], missing)


def started(found: Fit | None) -> Mapping[str, int]:
    """Return how many pods of each pod set are there of a job that was started."""
    return Counter(arrival.pod_set for arrival, _ in found.placed) if found is not None else {}


def witness(bid: Bidder, where: Site, there: Mapping[str, int], found: Fit | None = None) -> str:
    """Return the pools of a job with the pods that are there, and the hosts that they are placed on, where known."""
    said = [answer(bid, there)]
    lack = fewer(bid.workloads, said)
    return (f"{lack}; " if lack else "") + places(where, said, found)


def word(bid: Bidder, there: Mapping[str, int]) -> Word:
    """Return how a job that is started fits while it is alone."""
    return "fits partially" if there and fewer(bid.workloads, [answer(bid, there)]) else "fits"


def answer(bid: Bidder, there: Mapping[str, int]) -> dict[str, Any]:
    """Return what a job gets as Kueue would say it: of each pod set the pool and what its pods ask for.

    Of a job of which nothing is there it is what it needs at the least.
    """
    rows = []
    for each in sets(bid):
        spec = each["template"].get("spec") or {}
        count = there.get(each["name"], 0) if there else each["least"]
        if not count:
            continue
        usage = {name: shown(name, count * amount_of(asked, name)) for asked in [pod(each).pod.asked] for name in asked}
        flavors = {POOL: (spec.get("nodeSelector") or {}).get(POOL, "any pool")}
        rows.append({"name": each["name"], "count": count, "flavors": flavors, "usage": usage})
    return {"podSets": rows}


def pod(declared: Object) -> Wanted:
    """Return a pod of a pod set as its template says it."""
    return Wanted(declared["template"].get("spec") or {})


def arrivals(bid: Bidder, where: Site) -> list[Arrival]:
    """Return a pod of each pod set as it comes to nodes; none where a patch makes one none."""
    workload, owner = bid.workloads[0], bid.owners[0]
    try:
        return [
            next(of_set(bid, workload, owner, each, {"name": each["name"], "count": 1}, where)) for each in sets(bid)
        ]
    except SpecError:
        return []


def of(bid: Bidder, pods: Sequence[Arrival] = ()) -> Gang:
    """Return a job as Volcano's scheduler sees it, of the pods that come to nodes, or else as their templates say."""
    wanted = [each.wanted for each in pods] or [pod(each) for each in sets(bid)]
    rows = (Task(each["name"], one, each["count"], each["least"]) for each, one in zip(sets(bid), wanted, strict=True))
    return Gang(tuple(rows), bid.workloads[0]["spec"]["least"])


def sets(bid: Bidder) -> Sequence[Object]:
    """Return the pod sets of a job."""
    found: Sequence[Object] = bid.workloads[0]["spec"]["podSets"]
    return found


def queue_of(bid: Bidder) -> str:
    """Return the queue of a job."""
    return str(bid.workloads[0]["spec"]["queueName"])
