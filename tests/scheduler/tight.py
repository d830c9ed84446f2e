"""Jobs by chance that nearly fill their nodes: whether all their pods are placed hangs on where the first ones go."""

from __future__ import annotations

import random
from collections.abc import Iterator

from scheduler.worlds import GPU, Object
from trainyard.base.labels import HOSTNAME

CPUS, MEMORY, GPUS = 16, 64, 8

SIZES = {
    "whole": (8, 14, 56),
    "greedy": (8, 16, 64),
    "half": (4, 7, 28),
    "quarter": (2, 3, 12),
    "one": (1, 1, 4),
    "clerk": (0, 1, 2),
    "server": (0, 4, 8),
    "loader": (0, 8, 4),
}
"""GPUs, CPUs and GiB of pods."""


def tight(seed: int) -> Object:
    """Return the nodes and the pods of a number: sets of pods, as many as about fill the nodes."""
    dice = random.Random(f"tight {seed}")
    count = dice.choice((2, 2, 3, 3, 4, 5))
    nodes = [node(dice, index, odd=dice.random() < 0.2) for index in range(count)]
    sizes = dice.sample(sorted(SIZES), dice.choice((2, 2, 3)))
    room = [total * count for total in (GPUS, CPUS, MEMORY)]
    sets: list[list[Object]] = [[] for _ in sizes]
    alike = [pod(dice, name, number) for number, name in enumerate(sizes)]
    most = dice.choice((4, 8, 12))
    for _ in range(most):
        number = dice.randrange(len(sizes))
        asked = SIZES[sizes[number]]
        if all(left >= amount for left, amount in zip(room, asked, strict=True)):
            room = [left - amount for left, amount in zip(room, asked, strict=True)]
            sets[number].append(alike[number])
    return {"nodes": nodes, "pods": [one for set_ in sets for one in set_]}


def node(dice: random.Random, index: int, *, odd: bool) -> Object:
    """Return one node; an odd one has half of some resource."""
    half = dice.choice(("cpu", "memory", GPU)) if odd else ""
    amounts = {"cpu": CPUS, "memory": MEMORY, GPU: GPUS}
    found = {name: amount // 2 if name == half else amount for name, amount in amounts.items()}
    name = f"node-{index}"
    return {
        "name": name,
        "labels": {HOSTNAME: name, "zone": "ab"[index % 2]},
        "allocatable": {**found, "memory": f"{found['memory']}Gi", "pods": "110"},
        "taints": [],
    }


def pod(dice: random.Random, size: str, number: int) -> Object:
    """Return pods of a size; some want to be near others of their job, or apart."""
    gpus, cpus, memory = SIZES[size]
    asked = {"cpu": str(cpus), "memory": f"{memory}Gi"} | ({GPU: str(gpus)} if gpus else {})
    spec: Object = {"containers": [{"name": "main", "image": "x", "resources": {"limits": asked}}]}
    own = {"app": f"set-{number}"}
    chance = dice.random()
    if chance < 0.1:
        spec["affinity"] = {"podAntiAffinity": required(own)}
    elif chance < 0.2:
        spec["affinity"] = {"podAffinity": required({"app": f"set-{1 - number if number < 2 else 0}"}, "zone")}
    elif chance < 0.3:
        rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**rule, "labelSelector": {"matchLabels": own}}]
    return {"namespace": "alpha", "labels": own, "spec": spec, "takes": {}}


def required(labels: Object, key: str = HOSTNAME) -> Object:
    """Return the term of an affinity."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def orders(case: Object, seed: int) -> Iterator[Object]:
    """Yield a case as controllers may create its pods: as they stand, again, the last first, and mixed."""
    mixed = [*case["pods"]]
    random.Random(seed).shuffle(mixed)
    for pods in (case["pods"], case["pods"], case["pods"][::-1], mixed):
        yield {**case, "pods": pods}
