"""Which GPUs pods run on, as far as the inventory or their node selector says, and what these cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.base.pools import selected_pools
from trainyard.judge.policies.world import Pods, World

if TYPE_CHECKING:
    from trainyard.specs.gpus import Generation

LABELS = (
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "node.kubernetes.io/instance-type",
    "amd.com/gpu.product-name",
)
"""Labels of nodes that name their GPUs, or machines that have one kind."""


def generation(world: World, pods: Pods) -> Generation | None:
    """Return the generation of the GPUs that pods select, None if unknown; of several pools the one that lacks most."""
    selector = pods.spec.get("nodeSelector")
    named = [name for pool in selected_pools(pods.spec, world.selectors) for name in of_pool(world, pool)]
    selected = {key: value for key, value in selector.items() if isinstance(value, str)} if selector else {}
    labelled = [selected[label] for label in LABELS if label in selected]
    if not named and not labelled:
        return None
    from trainyard.specs.gpus import generation_of  # most pods name no GPUs, and models take long to import

    known = [row for row in map(generation_of, named) if row is not None]
    if known:
        return max(known, key=lambda row: len(row.lacks))
    return next((row for row in map(generation_of, labelled) if row is not None), None)


def of_pool(world: World, name: str) -> list[str]:
    """Return the name of the GPUs of a pool of the inventory."""
    pool = world.inventory.pools.get(name) if world.inventory else None
    gpus = pool.node.gpus if pool is not None else None
    return [gpus.product] if gpus is not None else []
