"""Whether a run saves so rarely that one lost node costs much work."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.jobs import is_known
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.render.launchers import launchers
from trainyard.render.sizing.restarts import MONTH, losses

RARE = Rule(
    id="ckp-rare",
    title="A run saves before a lost node costs many GPU-hours.",
    why="whatever stops a pod repeats the work of all GPUs since the last checkpoint",
    fix="lower everyMinutes, or raise unsavedGpuHours in platform/repository.yaml; waive this if saving is very slow",
    source="docs/jobs.md; docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)

OFTEN = 120
"""Minutes between two checkpoints that nobody is warned of, however many GPUs there are (assumed: slow to save)."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield an interval of more than two hours in which all GPUs spend more than the repository allows unsaved.

    An interval above the average time between two lost nodes, or above the deadline, has a finding of its own.
    """
    run, checkpoint = one.run, one.file.job.checkpoint
    if run is None or checkpoint is None or checkpoint.every_minutes <= OFTEN or not is_known(run):
        return
    roles = [role for role in launchers()[run.job.launcher].roles(run) if role.trains]
    minutes, hours = checkpoint.every_minutes, run.job.max_hours or MONTH
    lost = losses(run, [role for role in roles if role.ranks]).count
    if "repository" in one.broken or minutes >= hours * 60 or (lost and minutes > hours * 60 / lost):
        return
    gpus = sum(role.nodes * role.gpus for role in roles)
    spent = gpus * minutes / 60
    if spent > one.specs.repository.unsaved_gpu_hours:
        message = (
            f"everyMinutes is {minutes}, so a lost node costs up to {spent:.0f} GPU-hours on {gpus} GPUs; lower it"
        )
        yield RARE.at(run.source, ("checkpoint", "everyMinutes"), message)
