"""Gangs of Volcano's by chance, drawn from a number: tasks that nearly fill their nodes, in a queue of its own."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from itertools import groupby

from scheduler.compare import nodes_of, wanted
from scheduler.tight import GPUS, tight
from scheduler.worlds import GPU, Object
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet.predicates import amount_of
from trainyard.upstream.scheduler.gangs import Gang, Task, lacking_resources, prospects, room

OTHER = {"cpu": "8", "memory": "32Gi", GPU: "4"}
"""What another queue may keep for itself."""


def gang(seed: int) -> Object:
    """Return the nodes, the queues and the job of a number.

    `queue` is the specification of the job's own queue, `others` are those of queues without jobs.
    """
    dice, case = random.Random(f"gang {seed}"), tight(seed)
    sets = [[*item] for _, item in groupby(case["pods"], key=str)]
    elastic = dice.random() < 0.3
    tasks = [task(dice, number, pods, elastic=elastic) for number, pods in enumerate(sets)]
    return {
        "nodes": case["nodes"],
        "queue": {"weight": 1, "reclaimable": False, **limits(dice, len(case["nodes"]))},
        "others": [{"guarantee": {"resource": OTHER}, "deserved": OTHER}] if dice.random() < 0.1 else [],
        "namespace": "alpha",
        "minAvailable": sum(one_task["minAvailable"] for one_task in tasks),
        "tasks": tasks,
    }


def limits(dice: random.Random, nodes: int) -> Object:
    """Return what a queue has at the most, of a number of nodes: as much as these, about as much, or no bound."""
    share = dice.choice((None, 1.0, 0.75, 0.5))
    if share is None:
        return {}
    asked = {GPU: str(int(GPUS * nodes * share)), "cpu": str(int(16 * nodes * share)), "memory": f"{64 * nodes}Gi"}
    return {"capability": {name: asked[name] for name in dice.sample(sorted(asked), dice.choice((1, 2, 3)))}}


def task(dice: random.Random, number: int, pods: list[Object], *, elastic: bool) -> Object:
    """Return pods that are alike as a task, of an elastic job with fewer that have to be there."""
    least, spec = dice.randint(1, len(pods)) if elastic else len(pods), pods[0]["spec"]
    containers = [
        {**container, "resources": stated(container["resources"]["limits"])} for container in spec["containers"]
    ]
    return {
        "name": f"task-{number}",
        "replicas": len(pods),
        "minAvailable": least,
        "labels": pods[0]["labels"],
        "spec": {**spec, "containers": containers},
    }


def stated(amounts: Object) -> Object:
    """Return limits that are asked for in as many words: Volcano adds up what the template of a pod says."""
    return {"limits": amounts, "requests": amounts}


def verdict(case: Object) -> str:
    """Return what we say of a case: that its queue refuses the job, or whether it fits, may fit or never does."""
    tasks = (
        Task(one_task["name"], wanted(pod_of(one_task)), one_task["replicas"], one_task["minAvailable"])
        for one_task in case["tasks"]
    )
    job, has = Gang(tuple(tasks), case["minAvailable"]), room_of(case)
    if any(lacking_resources([job], has)):
        return "refused"
    found = [prospect.starts for prospect in prospects(nodes_of(case), job, has)]
    return "fits" if all(found) else "may fit" if any(found) else "never fits"


def pod_of(task: Object) -> Object:
    """Return a pod of a task."""
    return {"namespace": "alpha", "labels": task["labels"], "spec": task["spec"], "takes": {}}


def room_of(case: Object) -> dict[str, int]:
    """Return what the queue of a case gives at the most."""
    total = Counter[str]()
    for node in case["nodes"]:
        total.update(amounts(node["allocatable"]))
    every = [case["queue"], *case["others"]]
    kept = Counter[str]()
    for item in every:
        kept.update(amounts(item.get("guarantee", {}).get("resource", {})))
    return dict(room(amounts(case["queue"].get("capability", {})), total, {}, kept))


def amounts(resources: Object) -> dict[str, int]:
    """Return amounts as the scheduler counts them."""
    found = {name: Quantity.parse(text) for name, text in resources.items()}
    return {name: amount_of(found, name) for name in found}


def is_right(word: str, case: Object, answer: Object) -> bool:
    """Whether a verdict is true of what Volcano did: pods of a job that is refused are not even made."""
    if not started(case, answer) and any(answer["bound"].values()):
        return False
    right = {"refused": not answer["enqueued"], "fits": started(case, answer), "never fits": not started(case, answer)}
    return right.get(word, True) and (word == "refused" or answer["enqueued"])


def started(case: Object, answer: Object) -> bool:
    """Whether as many pods have nodes as have to be there."""
    return sum(answer["bound"].values()) >= case["minAvailable"]


def digest(case: Object) -> str:
    """Return what tells a case from every other."""
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:12]
