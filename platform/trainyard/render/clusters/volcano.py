"""Queues of Volcano, and the priorities that it reads: what admits VolcanoJobs to pools of their own.

Kueue has no integration for Volcano's Jobs, so that their pods are counted in none of its queues: a pool that both
used would be promised twice. Facts: volcano v1.14.1 pkg/scheduler/plugins/proportion, installer/helm/chart/volcano
config/volcano-scheduler.conf (actions enqueue, allocate, backfill: nothing is preempted).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Cluster

QUEUES = "scheduling.volcano.sh/v1beta1"
PRIORITIES = "scheduling.k8s.io/v1"


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the queues; what a queue has of its pool is the most that its jobs ever get."""
    for name, queue in cluster.queues_of("volcano").items():
        capability = {
            resource: amount
            for pool, quota in queue.nominal_quota.items()
            for resource, amount in amounts(cluster, pool, quota).items()
        }
        spec = {"weight": 1, "reclaimable": False, "capability": capability}
        yield Resource(QUEUES, "Queue", name, ("queues", name), fields={"spec": spec})


def priorities(cluster: Cluster) -> Iterator[Resource]:
    """Yield the cluster's priorities for Volcano, which order jobs in its queues and preempt no pod."""
    if not cluster.queues_of("volcano"):
        return
    for name, value in cluster.priorities.items():
        about = f"Order in the queues of Volcano on this cluster: {name}"
        fields = {"value": value, "preemptionPolicy": "Never", "globalDefault": False, "description": about}
        yield Resource(PRIORITIES, "PriorityClass", name, ("priorities", name), fields=fields)


def kinds(cluster: Cluster) -> frozenset[str]:
    """Return the kinds of these objects, as `group/Kind`; none on a cluster without queues of Volcano."""
    found = {"scheduling.volcano.sh/Queue", "scheduling.k8s.io/PriorityClass"}
    return frozenset(found if cluster.queues_of("volcano") else ())
