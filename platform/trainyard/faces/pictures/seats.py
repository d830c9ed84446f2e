"""The GPUs and CPUs of each host, with the jobs whose pods the scheduler and kubelets place there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trainyard.base.pools import pools_with
from trainyard.faces.pictures.decided import Decided
from trainyard.judge.admission.inventory import nodes
from trainyard.judge.admission.witness import amount
from trainyard.render.sizing.gpus import offers
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.starts import node
from trainyard.specs import Cluster
from trainyard.upstream.kubelet import Invalid


@dataclass
class Seat:
    """A GPU, or a part of one, and the job that has it."""

    numa: int
    job: str | None = None


@dataclass
class Room:
    """A host while pods are put on it."""

    name: str
    pool: str
    labels: Mapping[str, str]
    seats: dict[tuple[str, str], Seat]
    """By resource, and the device's id in it."""
    cpus: float
    """CPUs for jobs, less what daemons hold."""
    held: dict[str, float] = field(default_factory=dict)
    """CPUs of each job with pods here."""


def seat_pods(decided: Decided) -> dict[str, Room]:
    """Return the hosts of a cluster by name, in the order of its pools, with everybody on them."""
    there = {one_room.name: one_room for one_room in rooms(decided.cluster)}
    for ask in (*decided.judged_jobs, *decided.gangs):
        fit = decided.fits.get(ask.name)
        cpus = {
            pods["name"]: float(amount((pods.get("usage") or {}).get("cpu", 0))) / max(1, pods["count"])
            for answer in decided.of(ask)
            for pods in answer.get("podSets", ())
        }
        for arrival, pod in fit.placed if fit is not None else ():
            room = there[pod.host]
            room.held[ask.name] = room.held.get(ask.name, 0) + cpus.get(arrival.pod_set, 0)
            for given in pod.containers:
                for place in ((resource, device) for resource, ids in given.devices.items() for device in ids):
                    if place in room.seats:
                        room.seats[place].job = ask.name
    return there


def rooms(cluster: Cluster) -> Iterator[Room]:
    """Yield the empty hosts of a cluster."""
    selectors = cluster.selectors
    for value in nodes(cluster):
        if value["kind"] == "Node":
            name, labels = value["metadata"]["name"], value["metadata"]["labels"]
            (pool,) = pools_with(labels, selectors)
            seats = {place: Seat(numa) for place, numa in devices(cluster, pool).items()}
            yield Room(name, pool, labels, seats, float(available(cluster.pools[pool]).cpus))


def devices(cluster: Cluster, pool: str) -> dict[tuple[str, str], int]:
    """Return the GPUs and parts of a pool's nodes, by resource and id, each with its NUMA node.

    Where no kubelet starts nobody knows ids, and no pod gets any.
    """
    every = offers(cluster.pools[pool])
    found = node(cluster, pool)
    if isinstance(found, Invalid):
        return {(offer.resource, str(number)): 0 for offer in every for number in range(offer.count)}
    machine = found.kubelet.machine.devices
    return {
        (resource, device.id): device.numa[0] if device.numa else 0
        for resource in dict.fromkeys(offer.resource for offer in every)
        for device in machine.get(resource, ())
    }
