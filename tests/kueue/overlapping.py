"""Cases by chance of several Workloads in one queue, with two flavors whose topologies share nodes."""

from __future__ import annotations

import json
import random
from typing import Any

from kueue import topologies
from kueue.placing import of_kind
from kueue.question import Object

Chance = random.Random


def case(seed: int) -> Object:
    """Return the case of a seed, the same each time: that of one flavor, with another, less quota and more to place.

    Preferred affinity is left out: with its gate Kueue respects it only the first time that it looks at a pod set.
    """
    found, chance = topologies.case(seed), Chance(f"overlapping {seed}")
    found["mode"] = chance.choice(["settle", "settle", "cycle", "nominate"])
    gates = found["config"]["featureGates"]
    gates |= {"TASRespectNodeAffinityPreferred": False, "TASHandleOverlappingFlavors": chance.random() < 0.8}
    (topology,), (flavor,), (queue,) = (of_kind(found, kind) for kind in ("Topology", "ResourceFlavor", "ClusterQueue"))
    second, more = other_flavor(chance, flavor, topology)
    at = found["objects"].index(flavor)
    found["objects"][at + 1 : at + 1] = more
    group = queue["spec"]["resourceGroups"][0]
    group["flavors"] = [
        {"name": name, "resources": [quota(chance, covered_resource) for covered_resource in group["coveredResources"]]}
        for name in chance.sample(["tas", "tbs"], 2)
    ]
    if chance.random() < 0.4:
        queue["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    if chance.random() < 0.3:
        queue["spec"]["queueingStrategy"] = "StrictFIFO"
    for item in found["admitted"]:
        item["flavor"] = "tbs" if second["spec"]["topologyName"] == "dc" and chance.random() < 0.3 else "tas"
    levels = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    found["objects"] += [another(chance, seed * 7 + index, levels) for index in range(chance.choice([0, 1, 3]))]
    return found


def quota(chance: Chance, resource: str) -> Object:
    """Return little quota of CPUs, and enough of all else."""
    return {"name": resource, "nominalQuota": chance.choice([3, 8, 20]) if resource == "cpu" else 10**12}


def other_flavor(chance: Chance, flavor: Object, topology: Object) -> tuple[Object, list[Object]]:
    """Return the second flavor, and what is new: it, and a topology of its own now and then."""
    second = copied(flavor)
    second["metadata"]["name"] = "tbs"
    more = [second]
    if chance.random() < 0.4:
        own = copied(topology)
        own["metadata"]["name"] = second["spec"]["topologyName"] = "dc2"
        if len(own["spec"]["levels"]) > 1 and chance.random() < 0.5:
            own["spec"]["levels"].pop(0)
        more.insert(0, own)
    if chance.random() < 0.3:
        second["spec"]["nodeLabels"] = {"disk": "ssd"}
    return second, more


def another(chance: Chance, seed: int, levels: list[str]) -> Object:
    """Return one more Workload, that of another seed, with levels of this topology and without slices."""
    found = copied(of_kind(topologies.case(seed + 1), "Workload")[-1])
    found["metadata"]["name"] = f"more-{seed}"
    found["spec"]["priority"] = chance.choice([0, 0, 1])
    level = chance.choice(levels)
    for pods in found["spec"]["podSets"]:
        request = pods.pop("topologyRequest", None) or {}
        kept = {mode: level for mode in ("required", "preferred") if mode in request}
        kept |= {name: request[name] for name in ("unconstrained", "podSetGroupName") if name in request}
        if kept:
            pods["topologyRequest"] = kept
    return found


def copied(value: Any) -> Any:
    """Return a copy of plain values."""
    return json.loads(json.dumps(value))


def plain(answer: Any) -> Any:
    """Return an answer without what is empty; a message that only the name of a random pod set changes is one."""
    if isinstance(answer, dict):
        if len(answer.get("messages") or ()) == 1:
            answer = {**answer, "message": answer["messages"][0], "messages": None}
        return {name: plain(value) for name, value in answer.items() if value not in (None, [], {})}
    return [plain(item) for item in answer] if isinstance(answer, list) else answer
