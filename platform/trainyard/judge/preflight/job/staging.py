"""Whether data that a job copies to local disks first has room there, and is there before somebody gives up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.findings import Finding
from trainyard.base.quantities import duration_text
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.recovery import is_watched
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.operators.kueue import short_of_pods
from trainyard.render.parts.storage import has_squashed_volume
from trainyard.render.sizing import disks, staging
from trainyard.render.sizing.amounts import spell
from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import binary, size
from trainyard.specs import Pool

STAGE = Rule(
    id="sto-stage",
    title="A job that stages data runs where pods have local disks that they can write to.",
    why="without localDisks the copy has no place that is faster, and without an fsGroup a new volume belongs to root",
    fix="remove stage, or change what the message names",
    source="docs/staging.md",
    layer="run",
)
ROOM = Rule(
    id="sto-stage-disk",
    title="Local disks have room for staged data beside scratch and checkpoints.",
    why="a pod that claims more than any node has stays pending, and one that fills the kubelet's disk is evicted",
    fix="stage less, lower scratch, or train from the volume",
    source="kubernetes v1.35 pkg/kubelet/eviction/eviction_manager.go",
    layer="run",
)
TIME = Rule(
    id="sto-stage-time",
    title="Staging ends before Kueue or the job's own limit gives up.",
    why="pods that still copy are not ready, so Kueue evicts the job, and each new pod copies from the start",
    fix="stage less, raise maxHours or Kueue's waitForPodsReady, or train from the volume",
    source="kueue v0.19.2 pkg/controller/core/workload_controller.go; kubernetes v1.35 pkg/apis/batch/types.go "
    "activeDeadlineSeconds",
    layer="queueing",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield staged data without a place, with too little room, or that takes too long."""
    found = next(staging.copies(run.run.job), None)
    if found is None:
        return
    if run.run.job.runtime is not None:
        message = "stage does not work with runtime, whose pods are not written here; remove stage"
        yield STAGE.at(run.run.source, found.path, message)
        return
    yield from check_time(run, found)
    for role in {role.pool_name: role for role in run.specs if role.trains}.values():
        name, pool = role.pool_name, role.pool
        if pool.local_disks is None:
            message = f"stage copies to local disks, but pool {name!r} declares no localDisks; remove stage"
            yield STAGE.at(run.run.source, found.path, message)
        elif pool.local_disks.storage is not None and has_squashed_volume(run.run):
            message = f"volumes of {pool.local_disks.storage!r} need an fsGroup, which another volume forbids"
            yield STAGE.at(run.run.source, found.path, f"{message}; remove stage")
        else:
            yield from check_room(run, found, name, pool, disks.on_local_disks(run.run.job, role))


def check_room(
    run: Resolved, found: staging.Staged, name: str, pool: Pool, there: list[Sized[int]]
) -> Iterator[Finding]:
    """Yield more data than a node has room for, with the job's scratch and checkpoints on the same disks."""
    job, local = run.run.job, pool.local_disks
    wanted = disks.scratch(job)
    beside = wanted is not None and (
        local is None or local.storage is None or disks.storage_of_scratch(job, pool) is not None
    )
    needed = sum(one.value for one in there) + (size(wanted.size) if wanted and beside else 0)
    own = local is not None and local.storage is not None
    has = size(local.size) if own and local else available(pool).storage - disks.LAYER
    if needed > has:
        what = "staged data" if len(there) == 1 and not beside else "staged data, scratch and checkpoints"
        message = f"{what} need {binary(needed)}, but nodes of pool {name!r} have {spell(Fraction(max(0, has)))}"
        yield ROOM.at(run.run.source, (*found.path, "size"), f"{message} of local disk; stage less")


def check_time(run: Resolved, found: staging.Staged) -> Iterator[Finding]:
    """Yield data that is copied for longer than Kueue waits for ready pods, or than the job may run."""
    takes = staging.seconds(run.run, run.pods_that_train)
    if takes is None:
        return
    minutes, cluster = math.ceil(takes.value / 60), run.run.cluster
    at = (*found.path, "size")
    if is_watched(run):
        waits = [wait for wait in (short_of_pods(cluster, start=True), short_of_pods(cluster)) if wait]
        if waits and takes.value * 1e9 > min(waits):
            message = f"staging takes at least {minutes} minutes, but Kueue evicts pods that are not ready after"
            yield TIME.at(run.run.source, at, f"{message} {duration_text(min(waits))}; stage less")
    deadline = run.sizing.deadline_seconds
    if deadline is not None and takes.value >= deadline:
        message = f"staging takes at least {minutes} minutes, but maxHours is {run.run.job.max_hours:g}; raise maxHours"
        yield TIME.at(run.run.source, at, message)
