"""A case of one queue on one topology, asked of its places alone, without a scheduler."""

from __future__ import annotations

from collections.abc import Mapping

from queueing.question import Object
from trainyard.queueing.model.placements import PlacedPods, Placement, PlacementRequest, Surroundings
from trainyard.queueing.model.workloads import Workload
from trainyard.queueing.replay import objects
from trainyard.queueing.replay.case import read
from trainyard.queueing.requests import adjusted, held_by, pod_amounts
from trainyard.queueing.topology import Crash, Places

HOSTNAME = "kubernetes.io/hostname"
ASKED = "asked"
"""The Workload that a case is about."""


def of_kind(case: Object, kind: str) -> list[Object]:
    """Return the objects of a kind, in their order."""
    return [each for each in case["objects"] if each["kind"] == kind]


def workloads(case: Object) -> dict[str, Workload]:
    """Return the Workloads of a case by name."""
    found = read(case)
    return {each.name: objects.workload(each, found) for each in found.of("Workload")}


def places(case: Object) -> Places:
    """Return the places of the one flavor of a case, with what its admitted Workloads use."""
    found = read(case)
    (topology,), (flavor,) = found.of("Topology"), found.of("ResourceFlavor")
    held = held_by(map(objects.running, found.of("Pod")))
    nodes = map(objects.node, found.of("Node"))
    there = Places(objects.topology(topology), objects.flavor(flavor), nodes, held, found.gates)
    sets = workloads(case)
    for each in found.admitted:
        (spec,) = adjusted(sets[each["workload"]], Surroundings())
        for domain in each["domains"]:
            there.add(PlacedPods(tuple(domain["values"]), pod_amounts(spec), domain["count"]))
    return there


def asked(each: Workload) -> list[PlacementRequest]:
    """Return what a Workload asks of the one flavor of a queue that has topologies alone."""
    specs = adjusted(each, Surroundings())
    return [
        PlacementRequest(pods, spec, pod_amounts(spec), pods.count, "tas", not pods.explicit, pods.group)
        for pods, spec in zip(each.pod_sets, specs, strict=True)
        if pods.count
    ]


def answer(case: Object) -> Object:
    """Return what becomes of the Workload in question: its places, or whether they would be there on empty nodes."""
    try:
        found, requests = places(case), asked(workloads(case)[ASKED])
        placed = found.find(requests)
        reasons = [each for each in placed.values() if isinstance(each, str)]
        if not reasons:
            return {"mode": "Fit", "places": written(placed)}
        empty = found.find(requests, empty=True)
    except Crash:
        return {"crash": True}
    fits = all(isinstance(each, Placement) for each in empty.values())
    return {"mode": "Preempt" if fits else "NoFit", "reason": reasons[0]}


def written(places: Mapping[str, Placement | str]) -> Object:
    """Return places as the oracle writes them."""
    found: Object = {}
    for name, place in places.items():
        assert isinstance(place, Placement)
        domains = [{"values": list(each.values), "count": each.count} for each in place.domains]
        found[name] = {"levels": list(place.levels), "domains": domains}
    return found
