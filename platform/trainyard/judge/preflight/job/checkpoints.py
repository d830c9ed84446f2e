"""Whether a run has the time to save a checkpoint, and its volume the room for as many as it keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.node import size
from trainyard.render.sizing.saving import STEP, save

GRACE = Rule(
    id="ckp-grace",
    title="The termination grace period is long enough to save a checkpoint.",
    why="the kubelet kills the processes after it, and a half-written checkpoint is useless",
    fix="raise graceSeconds, or remove it: the default follows from the checkpoint's size",
    source="kubernetes v1.35 pkg/kubelet/kuberuntime/kuberuntime_container.go; docs/jobs.md",
    layer="run",
)
NOTICE = Rule(
    id="ft-spot-elastic",
    title="Saving a checkpoint fits between a spot node's notice and its end.",
    why="otherwise the node is gone before the save ends, and a half-written checkpoint is useless",
    fix="remove graceSeconds, or make the save faster; waive this if losing everyMinutes of work is acceptable",
    source="Google Kubernetes Engine, Spot VMs; Amazon EC2, Spot interruption notices; Azure Scheduled Events",
    layer="run",
    severity=Severity.WARNING,
)
DEADLINE = Rule(
    id="ckp-deadline",
    title="A run with maxHours saves at least once before its deadline.",
    why="otherwise the deadline ends the run before its first checkpoint, and the next run starts from nothing",
    fix="lower everyMinutes or raise maxHours; waive this if the program saves when it is terminated",
    source="kubernetes v1.35 pkg/controller/job/job_controller.go activeDeadlineSeconds; docs/programs.md",
    layer="run",
    may_waive=True,
)
TOO_OFTEN = Rule(
    id="ckp-save-time",
    title="A save ends before the next one is due.",
    why="otherwise the run spends its time on saving, or saves pile up until memory is full",
    fix="raise everyMinutes, or save less data",
    source="docs/programs.md",
    layer="run",
    severity=Severity.WARNING,
)
SIZE = Rule(
    id="sto-size",
    title="A checkpoint volume has room for one checkpoint more than keep.",
    why="a new checkpoint is written before the oldest is deleted; a full volume fails the save and the run",
    fix="lower keep, or enlarge the volume",
    source="docs/jobs.md",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield a grace that ends before a save or after its node, and a volume that is full before old checkpoints go."""
    yield from check_notice(run)
    job, source = run.run.job, run.run.source
    checkpoint, grace = job.checkpoint, job.grace_seconds
    if checkpoint is None:
        return
    if "every_minutes" in checkpoint.model_fields_set and checkpoint.every_minutes >= (job.max_hours or math.inf) * 60:
        message = f"everyMinutes is {checkpoint.every_minutes}, but maxHours ends the run after {job.max_hours:g} hours"
        yield DEADLINE.at(
            source, ("checkpoint", "everyMinutes"), (f"{message}, before its first checkpoint; lower everyMinutes")
        )
    expected = save(run.run, checkpoint, pods=sum(role.nodes for role in run.specs if role.ranks))
    needed = STEP + math.ceil(expected.seconds)
    if grace is not None and grace < needed and expected.stated and not run.run.pool.spot:
        message = (
            f"graceSeconds is {grace}, but one step and saving {checkpoint.size} take {needed} seconds; raise or "
            "remove it"
        )
        yield GRACE.at(source, ("graceSeconds",), message)
    if expected.stated and expected.seconds > checkpoint.every_minutes * 60:
        every = f"everyMinutes is {checkpoint.every_minutes}"
        message = f"{every}, but saving {checkpoint.size} takes {math.ceil(expected.seconds / 60)} minutes; raise it"
        yield TOO_OFTEN.at(source, ("checkpoint", "everyMinutes"), message)
    volume = run.run.team.volumes.get(checkpoint.volume)
    indices = run.run.job.array.of if run.run.job.array is not None else 1
    most = size(volume.size) // max(1, size(checkpoint.size) * indices) if volume else checkpoint.keep + 1
    if volume and most < checkpoint.keep + 1:
        count = f"keep + 1 = {checkpoint.keep + 1} checkpoints of {checkpoint.size}"
        count += f" for each of {indices} indices" if indices > 1 else ""
        message = f"volume {checkpoint.volume!r} of {volume.size} is too small for {count}; lower keep"
        yield SIZE.at(source, ("checkpoint", "size"), message)


def check_notice(run: Resolved) -> Iterator[Finding]:
    """Yield a grace, or else a save, that takes longer than a spot node of the run gives."""
    job, notice, source = run.run.job, run.run.pool.notice, run.run.source
    if notice is None:
        return
    after = f"nodes of pool {run.run.pool_name!r} disappear {notice} seconds after their notice"
    if job.grace_seconds is not None and job.grace_seconds > notice:
        message = f"graceSeconds is {job.grace_seconds}, but {after}; remove or lower it"
        yield NOTICE.at(source, ("graceSeconds",), message)
    if job.checkpoint is None:
        return
    expected = save(run.run, job.checkpoint, pods=sum(role.nodes for role in run.specs if role.ranks))
    if expected.stated and expected.seconds > notice:
        message = (
            f"saving {job.checkpoint.size} takes {math.ceil(expected.seconds)} seconds, but {after}; make the "
            "checkpoint smaller"
        )
        yield NOTICE.at(source, ("checkpoint", "size"), message)
