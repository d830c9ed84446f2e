"""Pods that must run in one topology domain are no more than its nodes can hold.

Why: Kueue finds no domain for them on an empty cluster either, so the job is never admitted.
Fix: require a coarser level, prefer the level instead, or ask for fewer nodes.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go
"""

import math
from collections import Counter
from collections.abc import Iterator

from trainyard.checks import (
    WHOLE_GPUS,
    Pods,
    Problem,
    Queues,
    TrainingJob,
    World,
    pool_of,
    strings,
)

REQUIRED = "kueue.x-k8s.io/podset-required-topology"
FEWEST = "kueue.x-k8s.io/job-min-parallelism"


def check(world: World) -> Iterator[Problem]:
    """Compare every pod set that requires a level with the largest domain of that level."""
    queues = Queues(world)
    for job in world.training_jobs():
        for pods in job.pod_sets():
            level = pods.annotations.get(REQUIRED)
            sizes = [*domains(queues, job, pods, level)] if level else []
            if level is None or not sizes or any(size is None for size, _ in sizes):
                continue
            nodes, gpus = max((nodes or 0, gpus) for nodes, gpus in sizes)
            wanted = nodes_for(job, pods, gpus)
            if wanted > nodes:
                message = (
                    f"{pods.name} needs {wanted} nodes in one domain of {level!r}, but the largest has {nodes}"
                    "; prefer the level, or ask for fewer"
                )
                yield Problem(pods.place("metadata", "annotations", REQUIRED), message)


def nodes_for(job: TrainingJob, pods: Pods, gpus: int) -> int:
    """Return how many nodes the fewest pods of a set take: as many on one as its GPUs allow."""
    fewest = job.manifest.annotations.get(FEWEST, "")
    count = min(pods.count, int(fewest)) if fewest.isdigit() else pods.count
    each = max((int(need.amount) for name, need in pods.needs.items() if name in WHOLE_GPUS), default=0)
    return math.ceil(count / (gpus // each)) if 0 < each <= gpus else 0


def domains(queues: Queues, job: TrainingJob, pods: Pods, level: str) -> Iterator[tuple[int | None, int]]:
    """Yield the nodes of the largest domain that a pod set could run in, and the GPUs of one node; None: not known."""
    queue = queues.of(job)
    resources = frozenset(name for name, need in pods.needs.items() if name in WHOLE_GPUS and need.amount)
    flavors = queues.flavors(queue, resources) if queue else []
    chosen = [strings(each.get("spec", "nodeLabels")) for each in flavors] or [strings(pods.spec.get("nodeSelector"))]
    selector = strings(pods.spec.get("nodeSelector"))
    for labels in chosen:
        if any(labels.get(key, value) != value for key, value in selector.items()):
            continue
        yield of_inventory(queues.world, labels, level) or of_nodes(queues.world, {**labels, **selector}, level)


def of_inventory(world: World, labels: dict[str, str], level: str) -> tuple[int | None, int] | None:
    """Return the size of a domain of the inventory's pool that the labels choose, and a node's GPUs."""
    found = pool_of(world, labels)
    if world.inventory is None or found is None:
        return None
    pool = world.inventory.pools[found[0]]
    name = next((name for name, label in world.inventory.levels.items() if label == level), "")
    sizes = {"rack": pool.nodes // pool.racks, "block": pool.nodes // pool.blocks, "hostname": 1}
    if pool.nvlink is not None:
        sizes[pool.nvlink] = min(pool.nodes, pool.node.nvlink_nodes)
    return sizes.get(name), pool.node.gpus.count if pool.node.gpus else 0


def of_nodes(world: World, labels: dict[str, str], level: str) -> tuple[int | None, int]:
    """Return the size of the largest domain among the Nodes that have the labels, and the GPUs of one of them."""
    nodes = [each for each in world.of("Node", group="") if labels.items() <= each.labels.items()]
    sizes = Counter(node.labels[level] for node in nodes if level in node.labels)
    gpus = [
        int(amount)
        for node in nodes
        for name in WHOLE_GPUS
        if str(amount := node.get("status", "allocatable", name, default="")).isdigit()
    ]
    return (max(sizes.values()), max(gpus)) if sizes and gpus else (None, 0)
