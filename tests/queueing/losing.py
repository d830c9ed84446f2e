"""Cases by chance of a Workload that has its place and loses a node of it."""

from __future__ import annotations

import random
from typing import NamedTuple

from queueing import placing, topologies
from queueing.placing import HOSTNAME, of_kind
from queueing.question import Object
from trainyard.queueing.model.placements import Domain, PlacedPods, Placement, Surroundings
from trainyard.queueing.requests import adjusted, pod_amounts
from trainyard.queueing.topology import Loss


class Losing(NamedTuple):
    """A case, the node that fails in it, and where the pod sets are before."""

    case: Object
    node: str
    before: dict[str, list[Object]]


def losing(seed: int) -> Losing | None:
    """Return the case of a seed; None where the Workload of that seed has no place on hosts that it could lose."""
    case, chance = topologies.case(seed), random.Random(f"lost {seed}")
    case["config"]["featureGates"]["TASBalancedPlacement"] = False
    if of_kind(case, "Topology")[0]["spec"]["levels"][-1]["nodeLabel"] != HOSTNAME:
        return None
    found = placing.answer(case)
    before = {name: each["domains"] for name, each in found.get("places", {}).items()}
    if not before or not all(before.values()):
        return None
    node = chance.choice(sorted({each["values"][0] for domains in before.values() for each in domains}))
    if chance.random() < 0.7:
        for each in of_kind(case, "Node"):
            if each["metadata"]["name"] == node:
                each["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    value = of_kind(case, "Workload")[-1]
    read = placing.workloads(case)[placing.ASKED]
    sets = [
        admitted(pods.name, pods.count, pod_amounts(spec), before.get(pods.name))
        for pods, spec in zip(read.pod_sets, adjusted(read, Surroundings()), strict=True)
    ]
    value["status"] = {
        "unhealthyNodes": [{"name": node}],
        "admission": {"clusterQueue": "cq", "podSetAssignments": sets},
    }
    return Losing({**case, "mode": "settle"}, node, before)


def admitted(name: str, count: int, amounts: dict[str, int], domains: list[Object] | None) -> Object:
    """Return what status says of a pod set that has its quota and its place."""
    usage = {key: f"{amount * count}m" if key == "cpu" else amount * count for key, amount in amounts.items()}
    found: Object = {"name": name, "count": count, "flavors": dict.fromkeys(amounts, "tas"), "resourceUsage": usage}
    if domains is not None:
        roots = {"individual": {"roots": [each["values"][0] for each in domains]}}
        counts = {"individual": [each["count"] for each in domains]}
        slices = [{"domainCount": len(domains), "valuesPerLevel": [roots], "podCounts": counts}]
        found["topologyAssignment"] = {"levels": [HOSTNAME], "slices": slices}
    return found


def answer(lost: Losing) -> Object:
    """Return where the pods are after the node failed, or nothing where they cannot be moved."""
    case = lost.case
    others = [each for each in case["objects"] if each["metadata"]["name"] != placing.ASKED]
    there = placing.places({**case, "objects": others})
    requests = placing.asked(placing.workloads(case)[placing.ASKED])
    losses = {}
    for request in requests:
        domains = tuple(Domain(tuple(each["values"]), each["count"]) for each in lost.before[request.pod_set.name])
        for each in domains:
            there.add(PlacedPods(each.values, request.pod, each.count))
        if any(each.values[0] == lost.node for each in domains):
            losses[request.pod_set.name] = Loss(Placement((HOSTNAME,), domains), lost.node)
    found = there.repair(requests, losses)
    if any(isinstance(each, str) for each in found.values()):
        return {"evicted": True}
    moved = {name: each["domains"] for name, each in placing.written(found).items()}
    return {"places": {**lost.before, **moved}}


def told(found: Object) -> Object:
    """Return the same of an answer of the program that answers for Kueue."""
    said = found["workloads"]["default/asked"]
    if said.get("evictions"):
        return {"evicted": True}
    return {"places": {each["name"]: each["topology"]["domains"] for each in said["podSets"] if "topology" in each}}
