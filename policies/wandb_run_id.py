"""A run of Weights & Biases has one writer, and a restart continues it.

Why: With WANDB_RESUME never the service refuses an id that exists, so every restart fails. Independent pods with one id
 write over each other's metrics.
Fix: set WANDB_RESUME: allow; give each index of an array an id of its own.
Source: wandb v0.31 wandb/sdk/wandb_settings.py resume, run_id; wandb/docs models/runs/resuming.mdx
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, TrainingJob, Variable, World

SEVERITY = Severity.WARNING
RESUME, RUN, INDEX = "WANDB_RESUME", "WANDB_RUN_ID", "ARRAY_INDEX"
OWN = re.compile(r"\$[({]?\w*(?:INDEX|POD|HOST|UID|UUID|TASK)\w*")
"""A variable that differs between pods."""


def check(world: World) -> Iterator[Problem]:
    """Look at containers that are given the id of their run."""
    for job in world.training_jobs():
        told = dict[tuple[str | int, ...], dict[str, Variable]]()
        for variable in job.variables():
            if variable.name in (RESUME, RUN):
                told.setdefault(variable.container, {})[variable.name] = variable
        for found in told.values():
            yield from faults(job, found)


def faults(job: TrainingJob, found: dict[str, Variable]) -> Iterator[Problem]:
    """Yield an id that a restart may not use again, and one of several writers."""
    run, resume = found.get(RUN), found.get(RESUME)
    if run is None or not run.value or OWN.search(run.value):
        return
    if resume is not None and (resume.value or "").strip().lower() == "never":
        message = f"{RESUME} is never, so a restart may not use {RUN} again, and fails; set it to allow"
        yield Problem(value(resume), message)
    alone = job.manifest.get("spec", "backoffLimitPerIndex") is not None
    if alone and job.manifest.kind == "Job" and sum(pods.count for pods in job.pod_sets()) > 1:
        index = next((variable.name for variable in job.variables() if variable.name == INDEX), "JOB_COMPLETION_INDEX")
        message = f"all indices write the run {run.value!r}, over each other; add $({index})"
        yield Problem(value(run), message)


def value(variable: Variable) -> Place:
    """Return the place of a variable's value."""
    return Place(variable.place.manifest, (*variable.place.path, "value"))
