"""Which GPUs pods run on, as far as the inventory or their node selector says, and what these cannot do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from trainyard.base.labels import POOL
from trainyard.judge.policies.world import Pods, World


class Generation(NamedTuple):
    """GPUs of one architecture."""

    pattern: str
    """Expression of the names that labels give them."""
    name: str
    lacks: frozenset[str]
    """Of `bf16`, `flash attention 2` and `FP8`, what they have no units or kernels for."""


TURING = frozenset({"bf16", "flash attention 2", "FP8"})
AMPERE = frozenset({"FP8"})

GENERATIONS = (
    Generation(r"\bP100\b|\bp100\b", "P100", TURING),
    Generation(r"(?i)\bv100\b|^p3(?:dn)?\.", "V100", TURING),
    Generation(r"(?i)\bT4\b|^g4dn\.", "T4", TURING),
    Generation(r"(?i)\ba100\b|^p4de?\.", "A100", AMPERE),
    Generation(r"(?i)\ba30\b|\ba40\b|\ba10g?\b|^g5\.", "A10, A30 or A40", AMPERE),
    Generation(r"(?i)\bmi(?:100|210|250x?)\b", "MI100 or MI200", AMPERE),
)
"""NVIDIA's by compute capability (CUDA C++ programming guide 13.0, compute capabilities: P100 6.0, V100 7.0, T4 7.5,
A100 and A30 8.0, A10 and A40 8.6): bfloat16 from 8.0 on (same guide, arithmetic instructions), FlashAttention-2 from
Ampere on (Dao-AILab/flash-attention v2.8 README.md), FP8 from 8.9 on (NVIDIA/TransformerEngine
transformer_engine/pytorch/quantization.py). AMD's: FP8 from MI300 on (ROCm 7 docs, data types and precision support).
Instance types: Amazon EC2, accelerated computing instances."""

LABELS = (
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "node.kubernetes.io/instance-type",
    "amd.com/gpu.product-name",
)
"""Labels of nodes that name their GPUs, or machines that have one kind."""


def generation(world: World, pods: Pods) -> Generation | None:
    """Return the GPUs of the nodes that pods select, None where nobody says or they lack nothing."""
    selector = pods.spec.get("nodeSelector")
    selected = {key: value for key, value in selector.items() if isinstance(value, str)} if selector else {}
    names = [*of_pool(world, selected), *(selected[label] for label in LABELS if label in selected)]
    return next((row for name in names for row in GENERATIONS if re.search(row.pattern, name.replace("_", "-"))), None)


def of_pool(world: World, selected: Mapping[str, str]) -> list[str]:
    """Return the name of the GPUs of the inventory's pool that a selector chooses."""
    pool = world.inventory.pools.get(selected.get(POOL, "")) if world.inventory else None
    gpus = pool.node.gpus if pool is not None else None
    return [gpus.product] if gpus is not None else []
