"""A case of one queue on one topology, asked of its places alone, without a scheduler."""

from __future__ import annotations

from collections.abc import Mapping

from kueue.question import Object
from trainyard.upstream.kueue.model.placements import PlacedPods, Placement, PlacementRequest, Surroundings
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.replay import objects
from trainyard.upstream.kueue.replay.case import read
from trainyard.upstream.kueue.requests import adjusted_specs, held_by, pod_amounts
from trainyard.upstream.kueue.topology import Crash, Places

HOSTNAME = "kubernetes.io/hostname"
ASKED = "asked"
"""The Workload that a case is about."""


def of_kind(case: Object, kind: str) -> list[Object]:
    """Return the objects of a kind, in their order."""
    return [item for item in case["objects"] if item["kind"] == kind]


def workloads(case: Object) -> dict[str, Workload]:
    """Return the Workloads of a case by name."""
    found = read(case)
    return {item.name: objects.workload(item, found) for item in found.of("Workload")}


def places(case: Object) -> Places:
    """Return the places of the one flavor of a case, with what its admitted Workloads use."""
    found = read(case)
    (topology,), (flavor,) = found.of("Topology"), found.of("ResourceFlavor")
    held = held_by(map(objects.read_pod, found.of("Pod")))
    nodes = map(objects.node, found.of("Node"))
    there = Places(objects.topology(topology), objects.flavor(flavor), nodes, held, found.gates)
    sets = workloads(case)
    for item in found.admitted:
        (spec,) = adjusted_specs(sets[item["workload"]], Surroundings())
        for domain in item["domains"]:
            there.add(PlacedPods(tuple(domain["values"]), pod_amounts(spec), domain["count"]))
    return there


def asked(workload: Workload) -> list[PlacementRequest]:
    """Return what a Workload asks of the one flavor of a queue that has topologies alone."""
    specs = adjusted_specs(workload, Surroundings())
    return [
        PlacementRequest(pods, spec, pod_amounts(spec), pods.count, "tas", not pods.explicit, pods.group)
        for pods, spec in zip(workload.pod_sets, specs, strict=True)
        if pods.count
    ]


def answer(case: Object) -> Object:
    """Return what becomes of the Workload in question: its places, or whether they would be there on empty nodes."""
    try:
        found, requests = places(case), asked(workloads(case)[ASKED])
        placed = found.find(requests)
        reasons = [item for item in placed.values() if isinstance(item, str)]
        if not reasons:
            return {"mode": "Fit", "places": written(placed)}
        empty = found.find(requests, empty=True)
    except Crash:
        return {"crash": True}
    fits = all(isinstance(item, Placement) for item in empty.values())
    return {"mode": "Preempt" if fits else "NoFit", "reason": reasons[0]}


def written(places: Mapping[str, Placement | str]) -> Object:
    """Return places as the oracle writes them."""
    found: Object = {}
    for name, place in places.items():
        assert isinstance(place, Placement)
        domains = [{"values": list(domain.values), "count": domain.count} for domain in place.domains]
        found[name] = {"levels": list(place.levels), "domains": domains}
    return found
