"""How long a run takes to save a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.render.sizing import flushing
from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.node import MI, binary, size
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
    flush: float = 0
    """Seconds of them in which containers copy to the volume, after the program has saved to local disks."""


def facts(run: Run) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the work that a lost node costs at most where checkpoints are copied from local disks, for `explain`."""
    lost, checkpoint = lost_minutes(run), run.job.checkpoint
    if lost is not None and checkpoint is not None and checkpoint.flush is not None:
        yield "checkpoint.lost_minutes", Sized(str(lost.value), f"at most {lost.value} = {lost.origin}")


def lost_minutes(run: Run) -> Sized[int] | None:
    """Return the minutes of training that a lost node costs at most; None without checkpoints.

    A program that saves to the volume itself does not train meanwhile, so that nothing is lost of that time. One that
    saves to local disks trains on until the checkpoint is on the volume.
    """
    checkpoint = run.job.checkpoint
    if checkpoint is None:
        return None
    if checkpoint.flush is None:
        return Sized(checkpoint.every_minutes, "checkpoint.everyMinutes")
    expected = save(run, checkpoint, pods=run.job.nodes)
    minutes = math.ceil(checkpoint.every_minutes + expected.seconds / 60)
    why = f"everyMinutes of {checkpoint.every_minutes} + {math.ceil(expected.seconds)} seconds until"
    return Sized(minutes, f"{why} {checkpoint.size} is on the volume")


def save(run: Run, checkpoint: Checkpoint, *, pods: int) -> Save:
    """Return how long a save takes: a run writes with the share of the throughput that its pods are of all nodes."""
    nodes = sum(pool.nodes for pool in run.cluster.pools.values())
    volume = run.team.volumes.get(checkpoint.volume)
    storage = run.cluster.storage.get(volume.storage) if volume else None
    stated = storage.throughput if storage else None
    rate = max(1, (size(stated) if stated else SLOWEST) * min(pods, nodes) // nodes)
    shown = f"{stated}/s" if stated else "100Mi/s, assumed,"
    if checkpoint.flush is not None:
        copied = min(rate, pods * flushing.rate(checkpoint.flush))
        local, flush = size(checkpoint.size) / (pods * flushing.LOCAL), size(checkpoint.size) / copied
        speed = f"{binary(flushing.LOCAL)}/s × {pods} nodes to local disks, {binary(copied)}/s to the volume"
        return Save(local + flush, speed, stated is not None, flush)
    return Save(size(checkpoint.size) / rate, f"{shown} × {min(pods, nodes)}/{nodes} nodes", stated is not None)
