"""Whether the program of a job with a checkpoint saves one, and goes on from it after a restart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import whole_number
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import key
from trainyard.judge.preflight.job.options import Given, program_options
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.specs import Job
from trainyard.upstream.trainers import Trainer, trainers

OFF = Rule(
    id="ckp-save-off",
    title="The program of a job with a checkpoint saves while it trains.",
    why="whatever stops the run then loses all of its work, and everyMinutes promises otherwise",
    fix="let the program save, or remove checkpoint; waive this if the program saves in another way",
    source="platform/trainyard/upstream/trainers",
    layer="run",
    severity=Severity.WARNING,
)
ANEW = Rule(
    id="ckp-resume-flag",
    title="The program of a job with a checkpoint continues from it after a restart.",
    why="otherwise each restart, and each eviction, trains again from the first step",
    fix="give the program its option for resuming; waive this if it resumes without",
    source="platform/trainyard/upstream/trainers",
    layer="run",
    severity=Severity.WARNING,
)

Options = dict[str, Given]


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield options of usual trainers by which a job saves nothing in time, or begins anew."""
    job = one.file.job
    if job.checkpoint is None or job.runtime:
        return
    said = {key(item.option): item for item in program_options(job, one.run.contents if one.run is not None else {})}
    for trainer in trainers():
        for item, message in (*saving_faults(trainer, said), *rare_saves(trainer, said, job)):
            yield OFF.at(one.file.source, item.path, message)
        for item, message in (*resuming_faults(trainer, said), *stale_faults(trainer, said)):
            yield ANEW.at(one.file.source, item.path, message)


def saving_faults(trainer: Trainer, said: Options) -> Iterator[tuple[Given, str]]:
    """Yield options with which a trainer saves nothing, or not before its last step."""
    for name, values in trainer.unsaved.items():
        if name in said and said[name].value in values:
            yield said[name], f"{words(said[name])} turns off saving, but the job has a checkpoint; remove it"
            return
    for name, length in trainer.every.items():
        every, steps = (whole_number(said[option].value) if option in said else None for option in (name, length))
        if every and steps and steps > 0 and every > steps and said.get("save_strategy", STEPS).value == "steps":
            message = (
                f"{words(said[name])} is more than all {steps} steps, so nothing is saved before the end; lower it"
            )
            yield said[name], message


def rare_saves(trainer: Trainer, said: Options, job: Job) -> Iterator[tuple[Given, str]]:
    """Yield parts of all steps after which a trainer saves, where the job promises to save much more often."""
    for item in (said[name] for name in trainer.ratio if name in said):
        if job.checkpoint is None or job.max_hours is None or not PART.fullmatch(item.value) or not float(item.value):
            continue
        minutes = float(item.value) * job.max_hours * 60
        if minutes > RARELY * job.checkpoint.every_minutes:
            message = f"{words(item)} is a part of all steps, up to {minutes / 60:.3g} hours of {job.max_hours:g}"
            every = f"but everyMinutes is {job.checkpoint.every_minutes}"
            yield item, f"{message}, {every}; write a number of steps"


def resuming_faults(trainer: Trainer, said: Options) -> Iterator[tuple[Given, str]]:
    """Yield options with which a trainer begins anew, and the missing one by which it would go on."""
    known = any(name in said for name in trainer.marks)
    for name, values in trainer.anew.items():
        if name in said and said[name].value in values and not RESUMES & said.keys() and (known or name not in USUAL):
            yield said[name], f"with {words(said[name])} each restart trains from the first step; remove it"
            return
    saves = next((said[name] for name in trainer.saves if name in said), None)
    if saves and known and trainer.resumes and not said.keys() & set(trainer.resumes):
        message = f"{trainer.title} saves, but loads nothing without --{trainer.resumes[0]}"
        yield saves, f"{message}, so each restart trains from the first step; add it"


def stale_faults(trainer: Trainer, said: Options) -> Iterator[tuple[Given, str]]:
    """Yield options with which a trainer saves too little to go on, or begins at one checkpoint again and again."""
    known = any(name in said for name in trainer.marks)
    for name, values in trainer.partial.items():
        if name in said and said[name].value in values:
            message = f"with {words(said[name])} checkpoints lack the optimizer, so restarts cannot continue; remove it"
            yield said[name], message
    for name, pattern in trainer.pins.items():
        if name in said and (known or "." in name) and re.fullmatch(pattern, said[name].value):
            message = f"with {words(said[name])} each restart begins at that checkpoint again, and loses later ones"
            yield said[name], f"{message}; remove it"


def words(item: Given) -> str:
    """Return an option with its value."""
    return f"{item.option} {item.value}" if item.value else item.option


STEPS = Given((), "", "steps")
"""When Hugging Face's trainer saves where nothing is said of it."""

PART = re.compile(r"0?\.\d+")
"""A number below 1, which is a part of all steps."""

RARELY = 4
"""How often a save may be late before it is worth a word: maxHours is more than most runs take (assumed)."""

USUAL = {"finetune"}
"""Options that programs of other people have for something else."""

RESUMES = {"resume_from_checkpoint"}
"""Options by which programs are given the checkpoint itself."""
