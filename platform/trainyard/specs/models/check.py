"""Checks of what a run was given, before it trains."""

from __future__ import annotations

from trainyard.specs.models.base import Count, Room, Spec, Speed


class NcclCheck(Spec):
    """A short all-reduce over all GPUs of the run; below the floor the run does not start."""

    bus_bandwidth: Speed | None = None
    """Floor in bytes per second, such as `200G`; nccl-tests print the same as `busbw`, in GB/s. Default: half of what
    the NICs of a node carry."""
    size: Room = "1Gi"
    """Bytes that every GPU sums at a time; its memory must have room for them."""
    minutes: Count = 5
    """Minutes that the check may take once all nodes are there; then the attempt fails."""


class Check(Spec):
    """Checks before each start of the run, in the training container and by its image."""

    nccl: NcclCheck
    """Network between the GPUs, by the image's own torch with NCCL or RCCL; `{}` for the defaults."""
