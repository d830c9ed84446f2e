"""Cases by chance of one Workload on one topology: levels, nodes, what runs there, and every kind of request."""

from __future__ import annotations

import random

from kueue.placing import HOSTNAME
from kueue.question import Object

KUEUE = "kueue.x-k8s.io/v1beta2"
POOL = "pool"
WIDER = ("zone", "block", "rack")


def case(seed: int) -> Object:
    """Return the case of a seed, the same each time."""
    chance = random.Random(seed)
    levels = list(WIDER[-chance.choice([1, 2, 2, 3]) :]) if chance.random() < 0.9 else []
    if not levels or chance.random() < 0.85:
        levels.append(HOSTNAME)
    nodes = [drawn_node(chance, index, levels) for index in range(chance.choice([1, 3, 5, 8, 8, 12, 16, 24]))]
    chance.shuffle(nodes)
    gates = {
        "TASProfileMixed": chance.random() < 0.8,
        "TASBalancedPlacement": chance.random() < 0.25,
        "TASRespectNodeAffinityPreferred": chance.random() < 0.25,
    }
    admitted, holders = drawn_holders(chance, nodes, levels)
    return {
        "name": str(seed),
        "mode": "nominate",
        "config": {"featureGates": gates},
        "objects": [
            {
                "apiVersion": KUEUE,
                "kind": "Topology",
                "metadata": {"name": "dc"},
                "spec": {"levels": [{"nodeLabel": level} for level in levels]},
            },
            *nodes,
            *(drawn_pod(chance, index, nodes) for index in range(chance.choice([0, 0, 1, 3]))),
            drawn_flavor(chance),
            queue(),
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "lq"}, "spec": {"clusterQueue": "cq"}},
            *holders,
            drawn_workload(chance, levels, nodes),
        ],
        "admitted": admitted,
    }


def queue() -> Object:
    """Return a queue with quota for all."""
    resources = [{"name": item, "nominalQuota": 10**12} for item in ("cpu", "memory", "example.com/gpu")]
    group = {
        "coveredResources": [resource["name"] for resource in resources],
        "flavors": [{"name": "tas", "resources": resources}],
    }
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    }


def drawn_flavor(chance: random.Random) -> Object:
    """Return the flavor, which tolerates a taint now and then."""
    spec: Object = {"nodeLabels": {POOL: "a"}, "topologyName": "dc"}
    if chance.random() < 0.3:
        spec["tolerations"] = [{"key": "t0", "operator": "Exists"}]
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "tas"}, "spec": spec}


def drawn_node(chance: random.Random, index: int, levels: list[str]) -> Object:
    """Return a node; names of racks may be the same in several blocks."""
    labels = {
        POOL: "a" if chance.random() < 0.95 else "b",
        "disk": chance.choice(["ssd", "hdd"]),
        "gen": str(index % 3),
    }
    labels |= {level: f"{level[0]}{chance.randrange(2 + at)}" for at, level in enumerate(levels) if level != HOSTNAME}
    if chance.random() < 0.03 and levels[0] != HOSTNAME:
        del labels[levels[0]]
    allocatable: Object = {"cpu": chance.choice([1, 2, 3, 4, 4, 4, 8])}
    if chance.random() < 0.6:
        allocatable["example.com/gpu"] = chance.choice([0, 1, 2, 4, 4, 8])
    if chance.random() < 0.6:
        allocatable["memory"] = chance.choice(["1Gi", "4Gi", "8Gi"])
    if chance.random() < 0.15:
        allocatable["pods"] = chance.choice([1, 2, 3])
    spec: Object = {}
    if chance.random() < 0.15:
        effect = chance.choice(["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"])
        spec["taints"] = [{"key": f"t{chance.randrange(2)}", "value": chance.choice(["", "v"]), "effect": effect}]
    if chance.random() < 0.04:
        spec["unschedulable"] = True
    status: Object = {"allocatable": allocatable}
    if chance.random() < 0.06:
        status["conditions"] = [{"type": "Ready", "status": chance.choice(["True", "False"])}]
    metadata = {"name": f"n{index:02}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def drawn_pod(chance: random.Random, index: int, nodes: list[Object]) -> Object:
    """Return a pod of somebody else."""
    spec = {"nodeName": chance.choice(nodes)["metadata"]["name"], "containers": [container({"cpu": "500m"})]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{index}", "namespace": "default"}, "spec": spec}


def container(requests: Object) -> Object:
    """Return a container that asks for something."""
    return {"name": "c", "image": "i", "resources": {"requests": requests}}


def drawn_holders(chance: random.Random, nodes: list[Object], levels: list[str]) -> tuple[list[Object], list[Object]]:
    """Return Workloads that are there already, and where."""
    admitted, workloads = [], []
    for index in range(chance.choice([0, 0, 2, 5, 9])):
        labels = chance.choice(nodes)["metadata"]
        values = {HOSTNAME: labels["name"], **labels["labels"]}
        named = levels[-1:] if levels[-1] == HOSTNAME else levels
        count = chance.randint(1, 3)
        domain = {"values": [values.get(level, "gone") for level in named], "count": count}
        sets = [{"name": "main", "count": count, "template": {"spec": {"containers": [container({"cpu": 1})]}}}]
        workloads.append(made(f"held{index}", sets))
        admitted.append({"workload": f"held{index}", "domains": [domain]})
    return admitted, workloads


def made(name: str, sets: list[Object]) -> Object:
    """Return a Workload of pod sets."""
    spec = {"queueName": "lq", "podSets": sets}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": name}, "spec": spec}


def drawn_workload(chance: random.Random, levels: list[str], nodes: list[Object]) -> Object:
    """Return the Workload in question: one pod set, several, or a leader with its workers."""
    if chance.random() < 0.25:
        level = chance.choice(levels)
        mode = chance.choice(["required", "preferred"])
        shared = {mode: level, "podSetGroupName": "g"}
        workers = {**shared, **(sliced(chance, levels, level) if chance.random() < 0.4 else {})}
        sets = [
            {"name": "leader", "count": 1, "topologyRequest": dict(shared), "template": template(chance, nodes)},
            {
                "name": "workers",
                "count": counted(chance, workers),
                "topologyRequest": workers,
                "template": template(chance, nodes),
            },
        ]
        if chance.random() < 0.3:
            sets.reverse()
        return made("asked", sets)
    sets = []
    for index in range(chance.choice([1, 1, 1, 2, 3])):
        request = drawn_request(chance, levels)
        value: Object = {"name": f"set{index}", "count": counted(chance, request), "template": template(chance, nodes)}
        if request is not None:
            value["topologyRequest"] = request
        sets.append(value)
    return made("asked", sets)


def drawn_request(chance: random.Random, levels: list[str]) -> Object | None:
    """Return a request of any kind; None is one, too."""
    kind = chance.choice(["none", "required", "required", "preferred", "preferred", "unconstrained", "slices"])
    if kind == "none":
        return None
    if kind == "unconstrained":
        return {"unconstrained": True}
    if kind == "slices":
        return sliced(chance, levels, levels[0])
    level = chance.choice(levels)
    return {kind: level, **(sliced(chance, levels, level) if chance.random() < 0.5 else {})}


def sliced(chance: random.Random, levels: list[str], level: str) -> Object:
    """Return slices below a level, in layers now and then."""
    below = levels[levels.index(level) :]
    if len(below) > 1 and chance.random() < 0.5:
        first = chance.randrange(len(below) - 1)
        second = chance.randrange(first + 1, len(below))
        inner = chance.choice([1, 2, 2, 3])
        layers = [
            {"topology": below[first], "size": inner * chance.choice([1, 2, 2])},
            {"topology": below[second], "size": inner},
        ]
        return {"podsetSliceRequiredTopologyConstraints": layers}
    return {"podSetSliceRequiredTopology": chance.choice(below), "podSetSliceSize": chance.choice([1, 2, 2, 3, 4])}


def counted(chance: random.Random, request: Object | None) -> int:
    """Return how many pods: whole slices nearly always."""
    count = chance.choice([0, 1, 2, 3, 4, 5, 6, 8, 8, 12, 20])
    asked = request or {}
    layers = asked.get("podsetSliceRequiredTopologyConstraints") or [{"size": asked.get("podSetSliceSize", 1)}]
    size = layers[0]["size"]
    return count if chance.random() < 0.05 else max(1, count // size) * size


def template(chance: random.Random, nodes: list[Object]) -> Object:
    """Return a pod template that asks for this and that, and for some nodes now and then."""
    requests: Object = {"cpu": chance.choice(["0", "500m", 1, 1, 1, 2, 3])}
    if chance.random() < 0.3:
        requests["example.com/gpu"] = chance.choice([0, 1, 1, 2])
    if chance.random() < 0.2:
        requests["memory"] = chance.choice(["256Mi", "1Gi"])
    spec: Object = {"containers": [container(requests)]}
    if chance.random() < 0.12:
        spec["nodeSelector"] = {"disk": chance.choice(["ssd", "hdd"])}
    if chance.random() < 0.15:
        spec["tolerations"] = [{"key": f"t{chance.randrange(2)}", **chance.choice(TOLERATED)}]
    affinity: Object = {}
    if chance.random() < 0.15:
        terms = [drawn_term(chance, nodes) for _ in range(chance.choice([1, 2]))]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if chance.random() < 0.15:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": chance.choice([1, 10]), "preference": drawn_term(chance, nodes)}
            for _ in range(chance.choice([1, 2]))
        ]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    return {"spec": spec}


TOLERATED = ({"operator": "Exists"}, {"value": "v"}, {"operator": "Equal", "value": ""}, {"effect": "NoSchedule"})


def drawn_term(chance: random.Random, nodes: list[Object]) -> Object:
    """Return a term of an affinity."""
    return chance.choice(
        [
            {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
            {"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["ssd"]}]},
            {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["0"]}]},
            {"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["1"]}]},
            {"matchExpressions": [{"key": "other", "operator": "DoesNotExist"}]},
            {
                "matchExpressions": [
                    {"key": "disk", "operator": "Exists"},
                    {"key": "gen", "operator": "Gt", "values": ["1"]},
                ]
            },
            {
                "matchFields": [
                    {
                        "key": "metadata.name",
                        "operator": chance.choice(["In", "NotIn"]),
                        "values": [chance.choice(nodes)["metadata"]["name"]],
                    }
                ]
            },
        ]
    )
