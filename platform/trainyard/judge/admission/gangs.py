"""Jobs that Volcano starts, alone on their cluster: what their queue has against them, and the nodes of their pods.

Volcano is 1.14.1, as its chart configures it (installer/helm/chart/volcano/config/volcano-scheduler.conf): actions
enqueue, allocate and backfill; of its plugins gang, proportion and predicates decide whether such a job starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.labels import POOL
from trainyard.base.pools import Selectors, selected_pools
from trainyard.judge.admission.arrivals import Arrival, of_set
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.machines import Fit, Machines
from trainyard.judge.admission.outcomes import Word
from trainyard.judge.admission.site import Site, amounts
from trainyard.judge.admission.witness import ANY_POOL, fewer, places
from trainyard.judge.admission.words import some
from trainyard.upstream.kubelet.predicates import amount_of
from trainyard.upstream.pods.resources import CPU, quantity_text
from trainyard.upstream.scheduler import SCHEDULERS, Unplaced, Wanted
from trainyard.upstream.scheduler.gangs import Gang, Start, Task, lacking_resources, prospects, put, room

Object = Mapping[str, Any]


def queue_limits(bid: Bidder, where: Site) -> str:
    """Return the reason why a job's queue can never take it, empty where it can."""
    name, queues = queue_of(bid), where.of("Queue")
    if name not in queues:
        return f"queue {name} does not exist"
    if any((queue.get("spec") or {}).get("parent") == name for queue in queues.values()):
        return f"queue {name} has child queues, so it takes no jobs itself"
    return missing_room([bid], where)


def missing_room(bids: Sequence[Bidder], where: Site) -> str:
    """Return of which resource the queue of jobs has no room for all of them, devices first; nothing where it has."""
    name = queue_of(bids[0])
    for resource, asked, most in lacking_resources([of(bid) for bid in bids], room_of(name, where)):
        has, needs = (amount_text(resource, amount) for amount in (most, asked))
        return f"queue {name} can give at most {has} {resource}, but {needs} are needed"
    return ""


def full(bids: Iterable[Bidder], where: Site) -> dict[str, str]:
    """Return by queue of what it has no room for all its jobs at one time, though it has for each of them."""
    by_queue: dict[str, list[Bidder]] = {}
    for bid in bids:
        if not queue_limits(bid, where):
            by_queue.setdefault(queue_of(bid), []).append(bid)
    return {name: missing_room(mine, where) for name, mine in by_queue.items()}


def order_note(bid: Bidder, others: Sequence[str], full: Mapping[str, str]) -> str:
    """Return the note on a job's order among other Volcano jobs, to follow the verdict."""
    if not others:
        return ""
    why = full.get(queue_of(bid))
    order = f"; Volcano also starts {some(others)} and decides the order"
    return order + (f"; they do not fit at the same time: {why}" if why else "")


def room_of(name: str, where: Site) -> Mapping[str, int]:
    """Return the most that a queue can give."""
    specs = {key: value.get("spec") or {} for key, value in where.of("Queue").items()}
    kept = {key: amounts((spec.get("guarantee") or {}).get("resource") or {}) for key, spec in specs.items()}
    every = Counter[str]()
    for held in kept.values():
        every.update(held)
    return room(amounts(specs[name].get("capability") or {}), where.offered, kept[name], every)


def amount_text(resource: str, amount: int) -> str:
    """Write an amount as the scheduler counts it, in thousandths of CPUs, as people write it."""
    return quantity_text(resource, Decimal(amount).scaleb(-3) if resource == CPU else amount)


def alone(bid: Bidder, machines: Machines) -> Fit:
    """Return where the pods of a job go, and leave everything as it was.

    Nothing is said where its queue has something against it, or a patch makes a pod none.
    """
    pods = arrivals(bid, machines.where)
    if not pods or queue_limits(bid, machines.where):
        return Fit()
    found: dict[bool, Start] = {}
    for prospect in prospects(machines.nodes, of(bid, pods), room_of(queue_of(bid), machines.where)):
        found.setdefault(prospect.starts, prospect)
        if len(found) == 2:
            break
    fits = {starts: fit(start, pods, len(machines.nodes.hosts)) for starts, start in found.items()}
    return replace(fits[True], otherwise=fits.get(False)) if True in fits else fits[False]


def fill(bids: Iterable[Bidder], machines: Machines) -> dict[str, Fit]:
    """Put the pods of jobs on nodes as long as their queues have room, one after the other, and say where; by job."""
    found, there = dict[str, Fit](), dict[str, list[Bidder]]()
    for bid in bids:
        pods, mine = arrivals(bid, machines.where), there.setdefault(queue_of(bid), [])
        if pods and not queue_limits(bid, machines.where) and not missing_room([bid, *mine], machines.where):
            start = put(machines.nodes, of(bid, pods), room_of(queue_of(bid), machines.where), SCHEDULERS, None)
            found[bid.name] = fit(start, pods, len(machines.nodes.hosts))
            if start.starts:
                mine.append(bid)
    return found


def fit(start: Start, pods: Sequence[Arrival], hosts: int) -> Fit:
    """Return the placed and unplaced pods of a gang, by pod set."""
    missing = [(pods[number], one_pod) for number, one_pod in start.missing]
    if start.full is not None:
        missing.append((pods[start.full], Unplaced({"its queue is full with other pods of the job": hosts})))
    return Fit([(pods[number], placement) for number, placement in start.placed], missing)


def started_pods(found: Fit | None) -> Mapping[str, int]:
    """Return how many pods of each pod set are there of a job that was started."""
    return Counter(arrival.pod_set for arrival, _ in found.placed) if found is not None else {}


def witness(bid: Bidder, where: Site, there: Mapping[str, int], found: Fit | None = None) -> str:
    """Return the pools of a job with the pods that are there, and the hosts that they are placed on, where known."""
    said = [answer(bid, where.cluster.selectors, there)]
    lack = fewer(bid.workloads, said)
    return (f"{lack}; " if lack else "") + places(where, said, found, noun="pool")


def word(bid: Bidder, where: Site, there: Mapping[str, int]) -> Word:
    """Return how a job that is started fits while it is alone."""
    return "fits partially" if there and fewer(bid.workloads, [answer(bid, where.cluster.selectors, there)]) else "fits"


def answer(bid: Bidder, selectors: Selectors, there: Mapping[str, int]) -> dict[str, Any]:
    """Return the pools and requests of a job's pod sets in the form of Kueue's answers.

    Of a job of which nothing is there it is what it needs at the least.
    """
    rows = []
    for set_ in sets(bid):
        spec = set_["template"].get("spec") or {}
        count = there.get(set_["name"], 0) if there else set_["least"]
        if not count:
            continue
        usage = {
            name: amount_text(name, count * amount_of(asked, name)) for asked in [pod(set_).pod.asked] for name in asked
        }
        flavors = {POOL: next(iter(selected_pools(spec, selectors)), ANY_POOL)}
        rows.append({"name": set_["name"], "count": count, "flavors": flavors, "usage": usage})
    return {"podSets": rows}


def pod(declared: Object) -> Wanted:
    """Return a pod of a pod set as its template says it."""
    return Wanted(declared["template"].get("spec") or {})


def arrivals(bid: Bidder, where: Site) -> list[Arrival]:
    """Return a pod of each pod set as it comes to nodes; none where a patch makes one none."""
    workload, owner = bid.workloads[0], bid.owners[0]
    try:
        return [
            next(of_set(bid, workload, owner, set_, {"name": set_["name"], "count": 1}, where)) for set_ in sets(bid)
        ]
    except SpecError:
        return []


def of(bid: Bidder, pods: Sequence[Arrival] = ()) -> Gang:
    """Return a job as Volcano's scheduler sees it, of the pods that come to nodes, or else as their templates say."""
    wanted = [arrival.wanted for arrival in pods] or [pod(set_) for set_ in sets(bid)]
    rows = (Task(set_["name"], one, set_["count"], set_["least"]) for set_, one in zip(sets(bid), wanted, strict=True))
    return Gang(tuple(rows), bid.workloads[0]["spec"]["least"])


def sets(bid: Bidder) -> Sequence[Object]:
    """Return the pod sets of a job."""
    found: Sequence[Object] = bid.workloads[0]["spec"]["podSets"]
    return found


def queue_of(bid: Bidder) -> str:
    """Return the queue of a job."""
    return str(bid.workloads[0]["spec"]["queueName"])
