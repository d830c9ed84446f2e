"""Whether the program of a job ends with 0, as if all were trained, while there is something left to train."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import whole_number
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import key
from trainyard.judge.preflight.job.options import program_options
from trainyard.judge.preflight.job.resuming import words
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.specs.run import Run
from trainyard.upstream.trainers import trainers

EARLY = Rule(
    id="ckp-exit-zero",
    title="A program ends with 0 only when training is complete.",
    why="a pod that ends with 0 has succeeded: nothing starts it again, and the run counts as done",
    fix="remove the option; maxHours ends a run, and a JobSet restarts all ranks; waive this if it may end early",
    source="platform/trainyard/upstream/trainers; docs/programs.md; pytorch v2.9 torch/distributed/run.py",
    layer="run",
    severity=Severity.WARNING,
)

TOGETHER = frozenset({"JobSet", "TrainJob", "VolcanoJob", "LeaderWorkerSet"})
"""Kinds that start all pods again when one has failed, those too that ended with 0."""

AGENTS = frozenset({"torchrun", "accelerate", "deepspeed"})
"""Launchers whose agent gets SIGTERM itself, and then ends with another code than 0."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield options by which usual trainers end with 0 after a time, or when one rank is stopped."""
    job, run = one.file.job, one.run
    if job.checkpoint is None or job.runtime or run is None:
        return
    said = {key(item.option): item for item in program_options(job, run.contents)}
    for trainer in trainers():
        if not said.keys() & set(trainer.marks):
            continue
        for item in (said[name] for name in trainer.timed if name in said):
            minutes = whole_number(item.value)
            if minutes and (job.max_hours is None or minutes < job.max_hours * 60):
                message = f"after {words(item)} the program ends with 0, so the run counts as complete; remove it"
                yield EARLY.at(one.file.source, item.path, message)
        for item in (said[name] for name in trainer.caught if name in said and counts_as_done(run)):
            message = f"with {item.option} ranks end with 0 after SIGTERM, so a drained run counts as complete"
            yield EARLY.at(one.file.source, item.path, f"{message}; use launcher: torchrun and kind: JobSet")


def counts_as_done(run: Run) -> bool:
    """Say whether nothing starts a pod again that has ended with 0 because a rank was stopped."""
    one_pod = run.job.nodes == 1 and not run.job.roles
    return run.job.launcher not in AGENTS or (run.kind not in TOGETHER and not one_pod)
