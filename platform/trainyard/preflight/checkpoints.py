"""Whether a run has the time to save a checkpoint, and its volume the room for as many as it keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.findings import Finding, Severity
from trainyard.kinds import Resolved
from trainyard.rules import Rule
from trainyard.sizing.node import size
from trainyard.sizing.saving import STEP, save

GRACE = Rule(
    id="ckp-grace",
    title="A run that is ended has the time to save.",
    why="after the grace the kubelet kills the processes, and half a checkpoint is none",
    fix="remove graceSeconds, which then follows from the checkpoint's size, or raise it",
    source="kubernetes v1.35 pkg/kubelet/kuberuntime/kuberuntime_container.go; docs/jobs.md",
    layer="run",
)
NOTICE = Rule(
    id="ft-spot-elastic",
    title="What a run on spot nodes does when it is told to end fits between a node's notice and its end.",
    why="the node is gone before the grace is over, and half a checkpoint is none",
    fix="remove graceSeconds, or save what takes less time; waive it where losing everyMinutes of work will do",
    source="Google Kubernetes Engine, Spot VMs; Amazon EC2, Spot interruption notices; Azure Scheduled Events",
    layer="run",
    severity=Severity.WARNING,
)
DEADLINE = Rule(
    id="ckp-deadline",
    title="A run that may take only so long saves before it ends.",
    why="the deadline ends the run before its first checkpoint, and the next one starts from nothing",
    fix="lower everyMinutes, or raise maxHours; waive it where the program saves when it is told to end",
    source="kubernetes v1.35 pkg/controller/job/job_controller.go activeDeadlineSeconds; docs/programs.md",
    layer="run",
    may_waive=True,
)
TOO_OFTEN = Rule(
    id="ckp-save-time",
    title="A save ends before the next one is due.",
    why="the run saves without end: it trains in between for nothing, or saves pile up until memory is gone",
    fix="raise everyMinutes, or save less",
    source="docs/programs.md",
    layer="run",
    severity=Severity.WARNING,
)
SIZE = Rule(
    id="sto-size",
    title="A volume holds one checkpoint more than the run keeps.",
    why="the new one is written before the oldest goes; a full volume ends the save, and with it the run",
    fix="keep fewer, or make the volume larger",
    source="docs/jobs.md",
    layer="run",
)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield a grace that ends before a save or after its node, and a volume that is full before old checkpoints go."""
    yield from check_notice(run)
    job, source = run.run.job, run.run.source
    checkpoint, grace = job.checkpoint, job.grace_seconds
    if checkpoint is None:
        return
    if "every_minutes" in checkpoint.model_fields_set and checkpoint.every_minutes >= (job.max_hours or math.inf) * 60:
        message = f"everyMinutes is {checkpoint.every_minutes}, but maxHours ends the run at {job.max_hours:g} hours"
        yield DEADLINE.at(source, ("checkpoint", "everyMinutes"), f"{message}, before it saves; save more often")
    expected = save(run.run, checkpoint, pods=sum(role.nodes for role in run.specs if role.ranks))
    needed = STEP + math.ceil(expected.seconds)
    if grace is not None and grace < needed and expected.stated and not run.run.pool.spot:
        message = f"graceSeconds is {grace}, but a step and saving {checkpoint.size} take {needed}; remove or raise it"
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
        count += f" of each of {indices} indices" if indices > 1 else ""
        message = f"volume {checkpoint.volume!r} of {volume.size} is too small for {count}; lower keep"
        yield SIZE.at(source, ("checkpoint", "size"), message)


def check_notice(run: Resolved) -> Iterator[Finding]:
    """Yield a grace, or else a save, that takes longer than a spot node of the run gives."""
    job, notice, source = run.run.job, run.run.pool.notice, run.run.source
    if notice is None:
        return
    after = f"nodes of pool {job.pool!r} are gone {notice} seconds after their notice"
    if job.grace_seconds is not None and job.grace_seconds > notice:
        message = f"graceSeconds is {job.grace_seconds}, but {after}; remove or lower it"
        yield NOTICE.at(source, ("graceSeconds",), message)
    if job.checkpoint is None:
        return
    expected = save(run.run, job.checkpoint, pods=sum(role.nodes for role in run.specs if role.ranks))
    if expected.stated and expected.seconds > notice:
        message = f"saving {job.checkpoint.size} takes {math.ceil(expected.seconds)} seconds, but {after}; save less"
        yield NOTICE.at(source, ("checkpoint", "size"), message)
