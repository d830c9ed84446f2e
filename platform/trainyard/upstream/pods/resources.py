"""Names of resources: Kubernetes' own, and those of the device plugins of GPUs.

Source: k8s.io/api v0.35 core/v1/types.go ResourceName, NVIDIA/k8s-device-plugin v0.20.0, ROCm/k8s-device-plugin v1.31.
"""

from __future__ import annotations

from decimal import Decimal

from trainyard.base.quantities import Format, Quantity

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"

BASIC = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""What every container uses, whether it asks for it or not."""

HUGE_PAGES = "hugepages-"
"""What the names of huge pages begin with: `hugepages-2Mi`."""

NVIDIA_GPU, AMD_GPU = "nvidia.com/gpu", "amd.com/gpu"

WHOLE_GPUS = frozenset({NVIDIA_GPU, AMD_GPU})
"""Whole cards."""


def is_huge_page(name: str) -> bool:
    """Whether a resource is memory in huge pages."""
    return name.startswith(HUGE_PAGES)


def is_pod_level(name: str) -> bool:
    """Whether a pod as a whole may ask for the resource."""
    return name in (CPU, MEMORY) or is_huge_page(name)


def is_native(name: str) -> bool:
    """Whether a resource is one of Kubernetes' own, by its name (kubernetes v1.35 core/v1/helper/helpers.go)."""
    return "/" not in name or "kubernetes.io/" in name


def in_bytes(name: str) -> bool:
    """Whether a resource is counted in bytes."""
    return name in (MEMORY, EPHEMERAL_STORAGE) or is_huge_page(name)


def quantity_text(name: str, amount: Decimal | int) -> str:
    """Write an amount of a resource, in CPUs, bytes or pieces, as the API server does: 1500m, 96Gi."""
    return Quantity(Decimal(amount), Format.BINARY_SI if in_bytes(name) else Format.DECIMAL_SI).canonical()
