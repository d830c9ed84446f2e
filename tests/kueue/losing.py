"""Cases by chance of a Workload that has its place and loses a node of it."""

from __future__ import annotations

import random
from typing import NamedTuple

from kueue import placing, topologies
from kueue.placing import HOSTNAME, of_kind
from kueue.question import Object
from trainyard.upstream.kueue.model.placements import Domain, PlacedPods, Placement, Surroundings
from trainyard.upstream.kueue.requests import adjusted_specs, pod_amounts
from trainyard.upstream.kueue.topology import Loss


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
    before = {name: place["domains"] for name, place in found.get("places", {}).items()}
    if not before or not all(before.values()):
        return None
    node = chance.choice(sorted({domain["values"][0] for domains in before.values() for domain in domains}))
    if chance.random() < 0.7:
        for item in of_kind(case, "Node"):
            if item["metadata"]["name"] == node:
                item["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    value = of_kind(case, "Workload")[-1]
    read = placing.workloads(case)[placing.ASKED]
    sets = [
        admitted(pods.name, pods.count, pod_amounts(spec), before.get(pods.name))
        for pods, spec in zip(read.pod_sets, adjusted_specs(read, Surroundings()), strict=True)
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
        roots = {"individual": {"roots": [domain["values"][0] for domain in domains]}}
        counts = {"individual": [domain["count"] for domain in domains]}
        slices = [{"domainCount": len(domains), "valuesPerLevel": [roots], "podCounts": counts}]
        found["topologyAssignment"] = {"levels": [HOSTNAME], "slices": slices}
    return found


def answer(lost: Losing) -> Object:
    """Return where the pods are after the node failed, or nothing where they cannot be moved."""
    case = lost.case
    others = [item for item in case["objects"] if item["metadata"]["name"] != placing.ASKED]
    there = placing.places({**case, "objects": others})
    requests = placing.asked(placing.workloads(case)[placing.ASKED])
    losses = {}
    for request in requests:
        domains = tuple(Domain(tuple(item["values"]), item["count"]) for item in lost.before[request.pod_set.name])
        for domain in domains:
            there.add(PlacedPods(domain.values, request.pod, domain.count))
        if any(domain.values[0] == lost.node for domain in domains):
            losses[request.pod_set.name] = Loss(Placement((HOSTNAME,), domains), lost.node)
    found = there.repair(requests, losses)
    if any(isinstance(item, str) for item in found.values()):
        return {"evicted": True}
    moved = {name: value["domains"] for name, value in placing.written(found).items()}
    return {"places": {**lost.before, **moved}}


def told(found: Object) -> Object:
    """Return the same of an answer of the program that answers for Kueue."""
    said = found["workloads"]["default/asked"]
    if said.get("evictions"):
        return {"evicted": True}
    return {
        "places": {
            pod_set["name"]: pod_set["topology"]["domains"] for pod_set in said["podSets"] if "topology" in pod_set
        }
    }
