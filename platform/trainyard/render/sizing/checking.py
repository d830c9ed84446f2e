"""The check of a run's network before it trains: how fast the sum of all GPUs has to be, and how long it may take."""

from __future__ import annotations

from decimal import Decimal

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.node import size
from trainyard.specs import Pool
from trainyard.specs.models.check import NcclCheck
from trainyard.specs.run import Run
from trainyard.specs.shapes import is_known_shape

GB = 10**9

NODE = "CHECK_NODE_NAME"
"""Variable with the name of the pod's node, so that the check can say it."""

PART = Decimal("0.5")
"""Of what the NICs carry, the floor by default (assumed: a healthy fabric reaches 0.75 or more, one lost rail less)."""

WAIT = 1800
"""Seconds that nodes wait for each other before the check, as torchrun's agents do: images are still being pulled."""

USUAL = 2
"""Minutes of a check that passes (assumed: torch is loaded in one, NCCL connects and sums in less than another)."""


def nccl_of(run: Run) -> NcclCheck | None:
    """Return the check of the network that the job asks for, or None."""
    return run.job.check.nccl if run.job.check is not None else None


def line_rate(run: Run) -> Decimal | None:
    """Return the GB/s that the NICs of one of the run's pods carry, on the slowest of its pools; None if not known.

    It bounds the bus bandwidth of rings that cross nodes: each of them enters and leaves every node once.
    """
    if run.job.fabric != "rdma" or run.job.nodes < 2:
        return None
    rates = [pool_rate(run.cluster.pools[name], run.job.gpus_per_node) for name in run.pools]
    return min((rate for rate in rates if rate is not None), default=None) if None not in rates else None


def pool_rate(pool: Pool, gpus: int) -> Decimal | None:
    """Return the GB/s of the NICs that a pod's share of a node has; None where their speed is not known."""
    if not is_known_shape(pool.shape) or not pool.node.nics or pool.node.gpus is None:
        return None
    bits = sum(size(nic.speed) for nic in pool.node.nics)
    return Decimal(bits) / 8 / GB * min(gpus, pool.node.gpus.count) / pool.node.gpus.count


def floor(run: Run) -> Sized[Decimal] | None:
    """Return the least bus bandwidth in GB/s, or None where neither the job nor the shape of its nodes tells it."""
    check, rate = nccl_of(run), line_rate(run)
    if check is None:
        return None
    if check.bus_bandwidth is not None:
        own = Decimal(size(check.bus_bandwidth)) / GB
        return Sized(own, "check.nccl.busBandwidth of the job")
    return None if rate is None else Sized(rate * PART, f"{PART} × {float(rate):.4g} GB/s of a node's NICs")
