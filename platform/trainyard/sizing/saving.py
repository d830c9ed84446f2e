"""How long a run takes to save a checkpoint, and whether the time and the volume that it has are enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.sizing.node import MI, size
from trainyard.sizing.wish import wishes
from trainyard.specs.models.job import Checkpoint
from trainyard.specs.run import Run

STEP = 30
"""Seconds for the training step at hand to end before the save can begin."""

SLOWEST = 100 * MI
"""Bytes per second of a storage class whose throughput nobody stated: less than one gigabit link carries."""

Wrong = tuple[str, tuple[str, ...], str]
"""Rule, field and sentence."""


@dataclass(frozen=True, slots=True)
class Save:
    """One checkpoint: the seconds that it is expected to take, unrounded, and the speed in words."""

    seconds: float
    speed: str
    stated: bool
    """Whether the cluster's file says how fast the storage is."""


def save(run: Run, checkpoint: Checkpoint) -> Save:
    """Return how long a save takes: a run writes with the share of the throughput that its pods are of all nodes."""
    pods = sum(wish.nodes for wish in wishes(run))
    nodes = sum(pool.nodes for pool in run.cluster.pools.values())
    volume = run.team.volumes.get(checkpoint.volume)
    storage = run.cluster.storage.get(volume.storage) if volume else None
    stated = storage.throughput if storage else None
    rate = max(1, (size(stated) if stated else SLOWEST) * min(pods, nodes) // nodes)
    shown = f"{stated}/s" if stated else "100Mi/s, assumed,"
    return Save(size(checkpoint.size) / rate, f"{shown} × {min(pods, nodes)}/{nodes} nodes", stated is not None)


def check(run: Run) -> Iterator[Wrong]:
    """Yield a grace that ends before a save, and a volume that is full before old checkpoints go."""
    checkpoint, grace = run.job.checkpoint, run.job.grace_seconds
    if checkpoint is None:
        return
    expected = save(run, checkpoint)
    needed = STEP + math.ceil(expected.seconds)
    if grace is not None and grace < needed and expected.stated and not run.pool.spot:
        message = f"graceSeconds is {grace}, but a step and saving {checkpoint.size} take {needed}; remove or raise it"
        yield "ckp-grace", ("graceSeconds",), message
    volume = run.team.volumes.get(checkpoint.volume)
    most = size(volume.size) // max(1, size(checkpoint.size)) if volume else checkpoint.keep + 1
    if volume and most < checkpoint.keep + 1:
        count = f"keep + 1 = {checkpoint.keep + 1} checkpoints of {checkpoint.size}"
        message = f"volume {checkpoint.volume!r} of {volume.size} is too small for {count}; lower keep"
        yield "sto-size", ("checkpoint", "size"), message
