"""Clusters and pods by chance: each case is a few nodes and a few sets of pods that are alike, drawn from a number."""

from __future__ import annotations

import random
from typing import Any

from trainyard.base.labels import HOSTNAME

Object = dict[str, Any]

GPU, NIC, PAGES = "nvidia.com/gpu", "example.com/nic", "hugepages-2Mi"
CHANNEL = "channel"
"""A device that is claimed (DRA), not offered by a kubelet."""

NAMESPACES = {
    "alpha": {"kubernetes.io/metadata.name": "alpha", "team": "one"},
    "beta": {"kubernetes.io/metadata.name": "beta", "team": "two"},
}

OVERHEAD = {"cpu": "250m", "memory": "120Mi"}
"""What a pod of the runtime class `heavy` costs beside its containers."""

TAINTS = (
    {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
    {"key": "spot", "effect": "NoExecute"},
    {"key": "old", "value": "3", "effect": "PreferNoSchedule"},
)
APPS = ("x", "y", "z")
ZONES = ("a", "b", "c", None)


def case(seed: int) -> Object:
    """Return the nodes and the pods, in the order in which they are created, of a number."""
    dice = random.Random(seed)
    claims, plain = dice.random() < 0.15, dice.random() < 0.4
    nodes = nodes_of(dice, claims=claims, roomy=not plain and dice.random() < 0.6)
    names = [node["name"] for node in nodes]
    pods: list[Object] = []
    for _ in range(dice.choice((1, 1, 2, 2, 3))):
        alike = pod(dice, names, plain=plain, claims=claims)
        pods += [alike] * dice.choice((1, 1, 2, 3, 4, 6))
    return {"nodes": nodes, "pods": pods[:12]}


def nodes_of(dice: random.Random, *, claims: bool, roomy: bool) -> list[Object]:
    """Return one to seven nodes of one to three shapes."""
    shapes = [shape(dice, claims=claims, roomy=roomy) for _ in range(dice.choice((1, 1, 2, 3)))]
    found = []
    for index in range(dice.choice((1, 2, 3, 3, 4, 5, 7))):
        name, own = f"node-{index}", dice.choice(shapes)
        labels = {HOSTNAME: name, **own["labels"]}
        zone = dice.choice(ZONES)
        labels |= {"zone": zone} if zone else {}
        found.append({**own, "name": name, "labels": labels})
    return found


def shape(dice: random.Random, *, claims: bool, roomy: bool) -> Object:
    """Return what nodes of one shape offer, and what keeps pods away from them."""
    offered = {
        "cpu": str(dice.choice((16, 32) if roomy else (2, 4, 8, 16))),
        "memory": f"{dice.choice((64, 128) if roomy else (4, 8, 16, 64))}Gi",
        "ephemeral-storage": f"{dice.choice((10, 100))}Gi",
        "pods": str(dice.choice((2, 3, 110, 110, 110))),
    }
    if roomy or dice.random() < 0.6:
        offered[GPU] = str(dice.choice((4, 8) if roomy else (1, 2, 4, 8)))
    if dice.random() < 0.2:
        offered[NIC] = str(dice.choice((0, 1, 4)))
    if dice.random() < 0.4:
        offered |= {PAGES: "1Gi"}
    labels = {"pool": dice.choice("pq"), "size": str(dice.choice((1, 2, 3)))}
    return {
        "labels": labels,
        "allocatable": offered,
        "taints": [dice.choice(TAINTS)] if dice.random() < 0.25 else [],
        **({CHANNEL: dice.choice((0, 1, 1, 2))} if claims else {}),
    }


def pod(dice: random.Random, nodes: list[str], *, plain: bool, claims: bool) -> Object:
    """Return the namespace, the labels and the specification of pods that are alike."""
    app = dice.choice(APPS)
    spec: Object = {"containers": [container(dice, "main"), *([container(dice, "more")] * (dice.random() < 0.2))]}
    if dice.random() < 0.2:
        spec["initContainers"] = [init(dice, index) for index in range(dice.choice((1, 1, 2, 3)))]
    if dice.random() < 0.1:
        spec |= {"runtimeClassName": "heavy", "overhead": OVERHEAD}
    if dice.random() < 0.05 and "initContainers" not in spec:
        spec["resources"] = {"requests": {"cpu": "16", "memory": "24Gi"} if dice.random() < 0.3 else {"cpu": "13"}}
    if dice.random() < 0.25:
        spec["nodeSelector"] = {"pool": dice.choice("pq")}
    if dice.random() < 0.4:
        spec["tolerations"] = [toleration(dice) for _ in range(dice.choice((1, 2)))]
    if not plain:
        spec |= picky(dice, nodes, app)
    taken = {CHANNEL: 1} if claims and dice.random() < 0.7 else {}
    return {
        "namespace": dice.choice(("alpha", "alpha", "beta")),
        "labels": {"app": app, "step": dice.choice("12")},
        "spec": spec,
        "takes": taken,
    }


def picky(dice: random.Random, nodes: list[str], app: str) -> Object:
    """Return more that a pod may want of nodes and of other pods."""
    spec: Object = {}
    affinity: Object = {}
    if dice.random() < 0.25:
        affinity["nodeAffinity"] = node_affinity(dice, nodes)
    for kind, chance in (("podAffinity", 0.2), ("podAntiAffinity", 0.3)):
        if dice.random() < chance:
            affinity[kind] = near(dice, app)
    if affinity:
        spec["affinity"] = affinity
    if dice.random() < 0.3:
        spec["topologySpreadConstraints"] = spread(dice, app)
    if dice.random() < 0.1:
        spec["hostNetwork"] = True
    if dice.random() < 0.01:
        spec["schedulingGates"] = [{"name": "example.com/later"}]
    return spec


def container(dice: random.Random, name: str) -> Object:
    """Return a container with requests, limits, ports, or without any."""
    limits, requests = amounts(dice), {}
    if dice.random() < 0.3:
        requests = {key: limit for key, limit in limits.items() if key in ("cpu", "memory", "ephemeral-storage")}
        limits = {key: limit for key, limit in limits.items() if key not in requests}
    found: Object = {"name": name, "image": "x", "resources": {"limits": limits, "requests": requests}}
    if PAGES in limits and not {"cpu", "memory"} & {*limits, *requests}:
        del limits[PAGES]
    if name == "main" and dice.random() < 0.1:
        number, protocol = dice.choice((80, 81)), dice.choice(("TCP", "TCP", "UDP"))
        port: Object = {"containerPort": number, "hostPort": number, "protocol": protocol}
        address = {"hostIP": dice.choice(("127.0.0.1", "10.0.0.1"))} if dice.random() < 0.4 else {}
        found["ports"] = [{**port, **address}]
    return found


def amounts(dice: random.Random) -> dict[str, str]:
    """Return amounts of some resources."""
    found = {}
    if dice.random() < 0.85:
        found["cpu"] = dice.choice(("100m", "500m", "500m", "1", "1", "1500m", "2", "4"))
    if dice.random() < 0.8:
        found["memory"] = dice.choice(("100Mi", "500Mi", "1Gi", "1Gi", "2Gi", "3Gi", "8Gi"))
    if dice.random() < 0.35:
        found[GPU] = str(dice.choice((1, 1, 1, 2, 2, 4, 8)))
    if dice.random() < 0.05:
        found[NIC] = str(dice.choice((0, 1, 2)))
    if dice.random() < 0.08:
        found["ephemeral-storage"] = dice.choice(("4Gi", "8Gi", "60Gi"))
    if dice.random() < 0.05:
        found[PAGES] = dice.choice(("256Mi", "600Mi"))
    return found


def init(dice: random.Random, index: int) -> Object:
    """Return an init container or a sidecar."""
    own = {key: amount for key, amount in amounts(dice).items() if key in ("cpu", "memory", GPU)}
    sidecar = {"restartPolicy": "Always"} if dice.random() < 0.4 else {}
    return {"name": f"init-{index}", "image": "x", "resources": {"limits": own}, **sidecar}


def toleration(dice: random.Random) -> Object:
    """Return a toleration of one taint, or of all."""
    if dice.random() < 0.1:
        return {"operator": "Exists"}
    taint = dice.choice(TAINTS)
    effect = {"effect": taint["effect"]} if dice.random() < 0.5 else {}
    if dice.random() < 0.5:
        return {"key": taint["key"], "operator": "Exists", **effect}
    return {"key": taint["key"], "value": dice.choice((taint.get("value", ""), "no")), **effect}


def expression(dice: random.Random) -> Object:
    """Return one expression about the labels of a node."""
    return dice.choice(
        (
            {"key": "zone", "operator": "In", "values": dice.choice((["a"], ["a", "b"]))},
            {"key": "zone", "operator": "NotIn", "values": ["a"]},
            {"key": "zone", "operator": dice.choice(("Exists", "DoesNotExist"))},
            {"key": "size", "operator": dice.choice(("Gt", "Lt")), "values": ["2"]},
        )
    )


def node_affinity(dice: random.Random, nodes: list[str]) -> Object:
    """Return a node affinity, required and perhaps preferred."""
    terms = []
    for _ in range(dice.choice((1, 1, 2))):
        term: Object = {"matchExpressions": [expression(dice) for _ in range(dice.choice((1, 1, 2)))]}
        if dice.random() < 0.2:
            operator = dice.choice(("In", "In", "NotIn"))
            term = {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [dice.choice(nodes)]}]}
            if dice.random() < 0.3:
                term["matchFields"] *= 2
                term["matchFields"][1] = {**term["matchFields"][1], "operator": "In", "values": [dice.choice(nodes)]}
        terms.append(term)
    found: Object = {}
    if dice.random() < 0.8:
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if dice.random() < 0.4 or not found:
        wish = {"weight": dice.choice((1, 50)), "preference": {"matchExpressions": [expression(dice)]}}
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [wish]
    return found


def near(dice: random.Random, app: str) -> Object:
    """Return an affinity to pods, or against them."""
    found: Object = {}
    if dice.random() < 0.8:
        terms = [term(dice, app) for _ in range(dice.choice((1, 1, 1, 2)))]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    if dice.random() < 0.3 or not found:
        wish = {"weight": dice.choice((1, 100)), "podAffinityTerm": term(dice, app)}
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [wish]
    return found


def term(dice: random.Random, app: str) -> Object:
    """Return which pods are meant, and what near them is."""
    found: Object = {"topologyKey": dice.choice((HOSTNAME, HOSTNAME, "zone", "pool"))}
    if dice.random() < 0.95:
        whose = dice.choice((app, app, *APPS))
        key = "matchLabels"
        found["labelSelector"] = {key: {"app": whose}}
        if dice.random() < 0.2:
            found[dice.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["step"]
    chance = dice.random()
    if chance < 0.1:
        found["namespaces"] = ["beta"]
    elif chance < 0.2:
        found["namespaceSelector"] = dice.choice(({}, {"matchLabels": {"team": "one"}}))
    return found


def spread(dice: random.Random, app: str) -> list[Object]:
    """Return constraints on how evenly pods are spread."""
    found = []
    for key in dice.sample((HOSTNAME, "zone", "pool"), dice.choice((1, 1, 2))):
        hard = dice.random() < 0.75
        rule: Object = {
            "topologyKey": key,
            "maxSkew": dice.choice((1, 1, 2)),
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": dice.choice((app, app, app, *APPS))}},
        }
        if dice.random() < 0.1:
            rule["labelSelector"] = {}
        elif dice.random() < 0.2:
            rule["matchLabelKeys"] = ["step"]
        if hard and dice.random() < 0.2:
            rule["minDomains"] = dice.choice((2, 3))
        if dice.random() < 0.2:
            rule["nodeAffinityPolicy"] = dice.choice(("Honor", "Ignore"))
        if dice.random() < 0.2:
            rule["nodeTaintsPolicy"] = dice.choice(("Honor", "Ignore"))
        found.append(rule)
    return found
