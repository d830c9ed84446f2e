"""The sizing of a run: its roles, and how long it may take to begin, to run and to end."""

from __future__ import annotations

import math

from trainyard.sizing.base import Closeness, Sized, Sizing
from trainyard.sizing.roles import size_role
from trainyard.sizing.saving import STEP, save
from trainyard.sizing.wish import wishes
from trainyard.specs.run import Run

GRACE = 30
"""Seconds that Kubernetes gives by default (core/v1 PodSpec.terminationGracePeriodSeconds)."""

SPOT_NOTICE = 30
"""Seconds between the notice and the end of a spot node (Google and Azure 30, AWS 120)."""


def size_run(run: Run) -> Sizing:
    """Return what the run's pods ask for, each value with its origin; pure, and defined for every loadable job."""
    wanted = wishes(run)
    pods = sum(wish.nodes for wish in wanted)
    return Sizing(
        roles=tuple(size_role(run, wish, pods=pods) for wish in wanted),
        grace=grace(run),
        deadline=deadline(run),
        topology=closeness(run, pods=pods),
    )


def grace(run: Run) -> Sized[int]:
    """Return the seconds that a run gets to save and end: a step, and a checkpoint at twice its expected time."""
    job = run.job
    if job.grace_seconds is not None:
        return Sized(job.grace_seconds, "graceSeconds of the job")
    if job.checkpoint is None:
        return Sized(GRACE, "30, the default: no checkpoint to save")
    expected = save(run, job.checkpoint)
    seconds = STEP + math.ceil(2 * expected.seconds)
    if run.pool.spot and seconds > SPOT_NOTICE:
        return Sized(SPOT_NOTICE, f"{SPOT_NOTICE}, the notice of a spot node; a checkpoint takes up to {seconds}")
    return Sized(seconds, f"{seconds} = {STEP} for a step + 2 × {job.checkpoint.size} / ({expected.speed})")


def deadline(run: Run) -> Sized[int] | None:
    """Return the seconds after which the run is ended, or None where the job sets no limit."""
    hours = run.job.max_hours
    return None if hours is None else Sized(max(1, round(hours * 3600)), f"maxHours of the job: {hours:g} × 3600")


def closeness(run: Run, *, pods: int) -> Sized[Closeness] | None:
    """Return the topology that Kueue is asked for: the job's, else near together where the cluster has racks."""
    asked = run.job.topology
    levels = run.cluster.levels
    if asked is not None:
        label = levels.get(asked.level)
        if label is None:
            return None
        mode = "required" if asked.required else "preferred"
        return Sized(Closeness(mode, label), f"topology of the job: {mode} {asked.level}")
    named = list(levels)[:-1]
    if pods == 1 or not named:
        return None
    return Sized(Closeness("preferred", levels[named[-1]]), f"preferred {named[-1]}: ranks near together talk faster")
