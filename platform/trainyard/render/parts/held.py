"""What is taken of a pool beside the quotas of its queues: by services of NVIDIA NIM, and by virtual clusters."""

from __future__ import annotations

from fractions import Fraction

from trainyard.render.parts import nim, virtual_clusters
from trainyard.specs import Cluster


def is_held(cluster: Cluster, pool: str) -> bool:
    """Whether somebody beside the queues uses a pool."""
    return bool(nim.held_gpus(cluster, pool)) or any(virtual_clusters.of_pool(cluster, pool))


def held_nodes(cluster: Cluster, pool_name: str) -> Fraction:
    """Return how many machines of a pool those beside the queues take together; its shape must be known."""
    pool = cluster.pools[pool_name]
    of_virtual = sum(
        (virtual_clusters.held_nodes(pool, one) for _, one in virtual_clusters.of_pool(cluster, pool_name)), Fraction()
    )
    gpus = nim.held_gpus(cluster, pool_name)
    return of_virtual + (Fraction(gpus, pool.node.gpus.count) if pool.node.gpus else Fraction())
