"""Whether a job that saves to local disks first has them, and can bring what they hold to its volume."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.kinds.job import INDEX_VARIABLE
from trainyard.render.sizing import WORKER, flushing
from trainyard.render.sizing.amounts import spell
from trainyard.render.sizing.disks import LAYER
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import binary, size
from trainyard.specs import Job, Pool

FLUSH = Rule(
    id="ckp-nvme-flush",
    title="A job that saves to local disks first can copy every checkpoint to its volume.",
    why="what is only on a node's disk is lost with the pod, and half a checkpoint cannot be restored",
    fix="remove checkpoint.flush, or change what the message names",
    source="docs/checkpoints.md",
    layer="run",
)
ROOM = Rule(
    id="ckp-flush-disk",
    title="The local disk for checkpoints has room for two of them, and nodes have that disk.",
    why="the program writes the next checkpoint while the last one is copied; a full disk fails the save and the run",
    fix="raise checkpoint.flush.disk, remove it, or save less",
    source="docs/checkpoints.md",
    layer="run",
)
AT: Path = ("checkpoint", "flush")


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield jobs whose pods cannot agree, pools without local disks, and volumes on which nothing can be committed."""
    job = run.run.job
    if flushing.flush_of(job) is None:
        return
    reason = apart(run) or without_rename(run)
    if reason:
        yield FLUSH.at(run.run.source, AT, f"checkpoint.flush does not work with {reason}")
        return
    for name in run.run.pools:
        pool = run.run.cluster.pools[name]
        if pool.local_disks is None:
            message = f"checkpoint.flush saves to local disks, but pool {name!r} declares no localDisks; remove flush"
            yield FLUSH.at(run.run.source, AT, message)
        else:
            yield from check_room(run, job, name, pool)


def apart(run: Resolved) -> str:
    """Return in words why the pods of a run cannot agree on what to restore, or nothing."""
    job = run.run.job
    others = [role.name for role in run.specs if role.ranks and role.name != WORKER]
    if job.array is not None:
        return "array, whose copies have no common checkpoint; remove flush"
    if job.min_nodes is not None:
        return "minNodes: new pods would begin at another step; remove flush"
    if job.runtime is not None:
        return "runtime, whose pods are not written here; remove flush"
    if run.wiring.rank != INDEX_VARIABLE:
        return f"kind {run.kind.name}, whose pods have no {INDEX_VARIABLE}; use kind: JobSet"
    return f"role {others[0]!r}, whose pods save too; only workers may have ranks" if others else ""


def without_rename(run: Resolved) -> str:
    """Return in words that the volume cannot rename a folder in one piece, or nothing."""
    checkpoint = run.run.job.checkpoint
    volume = run.run.team.volumes.get(checkpoint.volume) if checkpoint else None
    storage = run.run.cluster.storage.get(volume.storage) if volume else None
    if storage is None or storage.driver is None or storage.driver.renames:
        return ""
    return f"{storage.driver.title}, which renames no folder in one piece; use another volume"


def check_room(run: Resolved, job: Job, name: str, pool: Pool) -> Iterator[Finding]:
    """Yield a disk that is too small for two checkpoints, or larger than what nodes have."""
    room, checkpoint, local = flushing.disk_of(job), job.checkpoint, pool.local_disks
    if room is None or checkpoint is None or local is None:
        return
    least = 2 * size(checkpoint.size) // job.nodes
    field: Path = (*AT, "disk") if checkpoint.flush and checkpoint.flush.disk else ("checkpoint", "size")
    has = size(local.size) if local.storage is not None else available(pool).storage - LAYER
    if room.value < least:
        message = f"disk is {binary(room.value)}, but two checkpoints take {binary(least)} on each of {job.nodes} nodes"
        yield ROOM.at(run.run.source, field, f"{message}; raise it")
    elif room.value > has:
        message = f"checkpoints need {binary(room.value)} of local disk, but nodes of pool {name!r} have"
        yield ROOM.at(run.run.source, field, f"{message} {spell(Fraction(max(0, has)))}; save less")
