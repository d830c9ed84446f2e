"""What a program is told of its run, by variables that every training container has: docs/programs.md."""

from __future__ import annotations

import math

from trainyard.render.parts import buckets, ceph_buckets, tracking
from trainyard.render.sizing import Sized, Sizing, checking, flushing
from trainyard.render.sizing.saving import save
from trainyard.specs.run import Run

OF_RUN = ("JOB_NAME", "RUN_NAME", "TEAM")
"""Whose pods these are; a run's name is new with each change of its job, the job's name stays."""

DIR, EVERY, KEEP = "CHECKPOINT_DIR", "CHECKPOINT_EVERY_MINUTES", "CHECKPOINT_KEEP"
"""What the job says of its checkpoints."""

ARRAY_INDEX, ARRAY_SIZE = "ARRAY_INDEX", "ARRAY_SIZE"
"""Which index of an array a pod is, from 0, and how many there are."""

HEARTBEAT, HEARTBEAT_PATH = "HEARTBEAT_FILE", "/tmp/heartbeat"  # noqa: S108 - of the container alone
"""A file that a program touches while it makes progress; it is gone when the container starts again."""

GRACE = "CHECKPOINT_GRACE_SECONDS"
"""What a program has to save in when it is told to end."""


def environment(run: Run, sizing: Sizing, *, launcher: str, own_end: int) -> dict[str, Sized[str]]:
    """Return the variables, each with its origin; `own_end` are the seconds that the launcher takes to end itself."""
    found = {
        "JOB_NAME": Sized(run.job_name, "name of the job, the same for all its runs"),
        "RUN_NAME": Sized(run.name, "name of the run"),
        "TEAM": Sized(run.team_name, "team of the job"),
    }
    if run.job.array is not None:
        found[ARRAY_SIZE] = Sized(str(run.job.array.of), "array of the job")
    if run.job.hang_minutes is not None:
        found[HEARTBEAT] = Sized(HEARTBEAT_PATH, "hangMinutes of the job: the program touches it at every step")
    seconds = saving_seconds(run, sizing.grace.value, launcher=launcher, own_end=own_end)
    checkpoint = run.job.checkpoint
    if checkpoint is not None:
        found[DIR] = Sized(checkpoint.mount_path, "checkpoint.mountPath of the job")
        found[EVERY] = Sized(str(checkpoint.every_minutes), "checkpoint.everyMinutes of the job")
        found[KEEP] = Sized(str(checkpoint.keep), "checkpoint.keep of the job")
        if checkpoint.flush is not None:
            why = f"{flushing.KEPT} on the local disk; checkpoint.keep is for the volume"
            found[KEEP] = Sized(str(flushing.KEPT), why)
    found[GRACE] = Sized(str(seconds.value), seconds.origin)
    return {**found, **tracking.environment(run), **buckets.environment(run), **ceph_buckets.environment(run)}


def saving_seconds(run: Run, grace: int, *, launcher: str, own_end: int) -> Sized[int]:
    """Return the seconds between SIGTERM in the program and the end of its pod, at least one.

    A node that is taken away does not wait for a grace longer than its notice.
    """
    notice = run.pool.notice
    has, what = (notice, "notice") if notice is not None and notice < grace else (grace, "grace")
    copying = copy_seconds(run)
    seconds = max(1, has - own_end - copying)
    less = f" - {own_end} for {launcher} itself" if own_end else ""
    less += f" - {copying} to copy the checkpoint to the volume" if copying else ""
    return Sized(seconds, f"{seconds} = {what} of {has}{less}")


def copy_seconds(run: Run) -> int:
    """Return the seconds of a pod's grace that are for copying its last checkpoint: twice the expected ones."""
    checkpoint = run.job.checkpoint
    if checkpoint is None or checkpoint.flush is None:
        return 0
    return math.ceil(2 * save(run, checkpoint, pods=run.job.nodes).flush)


def reserved_variables(run: Run) -> frozenset[str]:
    """Return the variables that the job may not set; one without checkpoints may name them for its program itself."""
    array = (ARRAY_INDEX, ARRAY_SIZE) if run.job.array is not None else ()
    of_checkpoint = (DIR, EVERY, KEEP) if run.job.checkpoint else ()
    of_hangs = (HEARTBEAT,) if run.job.hang_minutes else ()
    of_check = (checking.NODE,) if run.job.check else ()
    of_buckets = (*buckets.reserved(run), *ceph_buckets.reserved(run))
    known = (*of_checkpoint, *of_check, *of_hangs, *array, *tracking.reserved(run), *of_buckets)
    return frozenset({*OF_RUN, GRACE, *known})


def fields(run: Run, rank_field: str | None) -> dict[str, str]:
    """Return the variables of the contract that come from a pod's own fields: name to fieldPath."""
    return {ARRAY_INDEX: rank_field} if run.job.array is not None and rank_field is not None else {}
