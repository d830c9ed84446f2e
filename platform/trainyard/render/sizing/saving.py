"""How long a run takes to save a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.render.sizing.node import MI, size
from trainyard.specs.models.job import Checkpoint
from trainyard.specs.run import Run

STEP = 30
"""Seconds for the training step at hand to end before the save can begin."""

SLOWEST = 100 * MI
"""Bytes per second of a storage class whose throughput nobody stated: less than one gigabit link carries."""


@dataclass(frozen=True, slots=True)
class Save:
    """One checkpoint: the seconds that it is expected to take, unrounded, and the speed in words."""

    seconds: float
    speed: str
    stated: bool
    """Whether the cluster's file says how fast the storage is."""


def save(run: Run, checkpoint: Checkpoint, *, pods: int) -> Save:
    """Return how long a save takes: a run writes with the share of the throughput that its pods are of all nodes."""
    nodes = sum(pool.nodes for pool in run.cluster.pools.values())
    volume = run.team.volumes.get(checkpoint.volume)
    storage = run.cluster.storage.get(volume.storage) if volume else None
    stated = storage.throughput if storage else None
    rate = max(1, (size(stated) if stated else SLOWEST) * min(pods, nodes) // nodes)
    shown = f"{stated}/s" if stated else "100Mi/s, assumed,"
    return Save(size(checkpoint.size) / rate, f"{shown} × {min(pods, nodes)}/{nodes} nodes", stated is not None)
