"""Which GPUs pods run on, as far as the inventory or their node selector says, and what these cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainyard.base.labels import POOL
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
    """Return the generation of the GPUs that pods select, or None where nobody says."""
    selector = pods.spec.get("nodeSelector")
    selected = {key: value for key, value in selector.items() if isinstance(value, str)} if selector else {}
    names = [*of_pool(world, selected), *(selected[label] for label in LABELS if label in selected)]
    if not names:
        return None
    from trainyard.specs.gpus import generation_of  # most pods name no GPUs, and models take long to import

    return next((row for row in map(generation_of, names) if row is not None), None)


def of_pool(world: World, selected: Mapping[str, str]) -> list[str]:
    """Return the name of the GPUs of the inventory's pool that a selector chooses."""
    pool = world.inventory.pools.get(selected.get(POOL, "")) if world.inventory else None
    gpus = pool.node.gpus if pool is not None else None
    return [gpus.product] if gpus is not None else []
