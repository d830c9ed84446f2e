"""Which nodes are tested while they are idle, and what the test asks for."""

from __future__ import annotations

from trainyard.render.sizing.health import gpu_pools
from trainyard.specs import Cluster
from trainyard.specs.models.health import BurnIn

NAME = "burn-in"
"""Namespace, queue and priority of the test, and its ConfigMap."""


MARKER = "burn-in-marker"
"""Namespace, account and program of the marks of nodes that failed."""

FAILED = "BurnInFailed"
"""Condition of a node that failed the test."""

PART = 10
"""One node in so many may be marked: where more fail, the test itself is probably at fault (assumed)."""


def stated(cluster: Cluster) -> BurnIn | None:
    """Return the test that a cluster's file asks for."""
    return cluster.health.burn_in if cluster.health is not None else None


def tested_pools(cluster: Cluster) -> list[str]:
    """Return the pools that are tested: those that the file names, else all that can be."""
    said = stated(cluster)
    if said is None:
        return []
    names = said.pools or tuple(gpu_pools(cluster))
    return [name for name in names if name in cluster.pools and why_not(cluster, name) is None]


def why_not(cluster: Cluster, pool_name: str) -> str | None:
    """Return why the idle nodes of a pool are not tested, in words; None where they are."""
    pool, said = cluster.pools[pool_name], stated(cluster)
    if pool_name not in gpu_pools(cluster):
        return "has no GPUs"
    if pool.mig is not None or pool.sharing is not None or pool.partition is not None:
        return "has GPUs in parts"
    if pool.scales:
        return "starts nodes for pods that wait, so the test would start all of them"
    if said is not None and not lends(cluster, said.cohort, pool_name):
        return f"has no quota in cohort {said.cohort!r}"
    return None


def lends(cluster: Cluster, cohort: str, pool_name: str) -> bool:
    """Whether some queue of a cohort, or the cohort itself, has quota of a pool."""
    own = cluster.cohorts.get(cohort)
    queues = [queue for queue in cluster.queues_of("kueue").values() if queue.cohort == cohort]
    return any(pool_name in holder.nominal_quota for holder in (*queues, *([own] if own else ())))


def priority(cluster: Cluster) -> int:
    """Return the priority of the test: below all of the cluster, and below that of a job without one."""
    return min(0, *cluster.priorities.values()) - 1 if cluster.priorities else -1


def marks(cluster: Cluster) -> bool:
    """Whether nodes that fail the test are marked by a program."""
    said = stated(cluster)
    return said is not None and said.marker_image is not None and bool(tested_pools(cluster))


def most_marks(cluster: Cluster) -> int:
    """Return how many nodes may be marked at the same time: a tenth of those that are tested, at least one."""
    return max(1, sum(cluster.pools[name].nodes for name in tested_pools(cluster)) // PART)
