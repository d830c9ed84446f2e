"""Pods that require one topology domain must fit into its nodes.

Why: Otherwise Kueue finds no domain even on an empty cluster, and never admits the job.
Fix: require a larger level, make the level preferred (podset-preferred-topology), or request fewer nodes.
Source: kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go
"""

import math
from collections import Counter
from collections.abc import Iterator

from trainyard.checks import (
    Pods,
    Problem,
    Queues,
    Severity,
    TrainingJob,
    World,
    allocatable,
    holds,
    may_be_of,
    offered,
    pool_of,
    selected_pools,
    strings,
    whole_number,
)

REQUIRED = "kueue.x-k8s.io/podset-required-topology"
HOSTNAME = "kubernetes.io/hostname"
FEWEST = "kueue.x-k8s.io/job-min-parallelism"


def check(world: World) -> Iterator[Problem]:
    """Compare every pod set that requires a level with the largest domain of that level."""
    queues = Queues(world)
    for job in world.all_jobs():
        for pods in job.pod_sets():
            level = pods.annotations.get(REQUIRED)
            sizes = [*domains(queues, job, pods, level)] if level else []
            known = [(nodes, math.ceil(fewest(job, pods) / item)) for nodes, item in sizes if nodes and item]
            if len(known) < len(sizes):
                continue
            if any(wanted <= nodes for nodes, wanted in known):
                yield from too_large(job, pods, [(nodes, item) for nodes, item in sizes if nodes and item])
                continue
            for nodes, wanted in sorted(known)[-1:]:
                message = (
                    f"pods {pods.name!r} need {wanted} nodes in one {level!r}, but the largest has {nodes}"
                    "; make it preferred or use fewer nodes"
                )
                yield Problem(pods.place("metadata", "annotations", REQUIRED), message)


def too_large(job: TrainingJob, pods: Pods, sizes: list[tuple[int, int]]) -> Iterator[Problem]:
    """Yield an elastic job that may grow out of every domain: Kueue then stops it, and never admits it again."""
    most = job.manifest.get("spec", "elasticPolicy", "maxReplicas")
    if isinstance(most, bool) or not isinstance(most, int) or pods.name.lower() != "worker":
        return
    known = [(nodes, math.ceil(most / item)) for nodes, item in sizes]
    if known and all(wanted > nodes for nodes, wanted in known):
        nodes, wanted = max(known)
        level = pods.annotations[REQUIRED]
        message = f"{most} pods {pods.name!r} need {wanted} nodes in one {level!r}, but the largest has {nodes}"
        place = pods.place("metadata", "annotations", REQUIRED)
        yield Problem(
            place, f"grown to {message}; make it preferred or lower the largest number", severity=Severity.WARNING
        )


def fewest(job: TrainingJob, pods: Pods) -> int:
    """Return the fewest pods of a set with which the job may start."""
    least = whole_number(job.manifest.annotations.get(FEWEST, ""))
    return pods.count if least is None else min(pods.count, least)


def domains(queues: Queues, job: TrainingJob, pods: Pods, level: str) -> Iterator[tuple[int, int]]:
    """Yield the nodes of the largest domain for a pod set, and its pods on one node; 0 if unknown."""
    queue = queues.of(job)
    resources = frozenset(name for name, need in pods.needs.items() if need.amount)
    flavors = queues.flavors(queue, resources) if queue else []
    chosen = [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors] or [
        strings(pods.spec.get("nodeSelector"))
    ]
    selector, pools = strings(pods.spec.get("nodeSelector")), selected_pools(pods.spec, queues.world.selectors)
    for labels in chosen:
        if any(labels.get(key, value) != value for key, value in selector.items()):
            continue
        if not may_be_of(queues.world, labels, pools):
            continue
        declared = described_domain(queues.world, pods, labels, level)
        yield declared or node_domain(queues.world, pods, {**labels, **selector}, level)


def described_domain(world: World, pods: Pods, labels: dict[str, str], level: str) -> tuple[int, int] | None:
    """Return the nodes of a domain in the described pool with these labels, and the pods that a node holds."""
    found = pool_of(world, labels)
    if world.inventory is None or found is None:
        return None
    pool = world.inventory.pools[found[0]]
    name = next((name for name, label in world.inventory.levels.items() if label == level), "")
    sizes = {"rack": pool.nodes // pool.racks, "block": pool.nodes // pool.blocks}
    if level == HOSTNAME:
        sizes[name] = 1
    if pool.nvlink:
        sizes[pool.nvlink] = min(pool.nodes, pool.node.nvlink_nodes)
    return sizes.get(name, 0), holds(offered(world, found[0]), pods.needs) or 0


def node_domain(world: World, pods: Pods, labels: dict[str, str], level: str) -> tuple[int, int]:
    """Return the size of the largest domain among Nodes with the labels, and the most pods that one holds."""
    nodes = [item for item in world.of("Node", group="") if labels.items() <= item.labels.items()]
    sizes = Counter(node.labels[level] for node in nodes if level in node.labels)
    value = [holds(allocatable(node), pods.needs) or 0 for node in nodes]
    return (max(sizes.values()), max(value)) if sizes else (0, 0)
