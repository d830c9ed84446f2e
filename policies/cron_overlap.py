"""A CronJob with GPUs does not start a run beside the one before, or in its place.

Why: With concurrencyPolicy Allow, the default, each time of the schedule starts another run. Runs that take longer than
 the time between two pile up, until they hold every GPU. With Replace the next one ends them, so none is ever done.
Fix: set concurrencyPolicy: Forbid.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go ConcurrencyPolicy
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, gpus_of

SEVERITY = Severity.WARNING
HOURLY = re.compile(r"\d+")
"""A field for minutes that names one minute of the hour."""

EVERY = re.compile(r"\*(?:/(\d{1,2}))?")
STEPS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"}
"""Schedules by name."""


def check(world: World) -> Iterator[Problem]:
    """Look at CronJobs with GPUs that start several times an hour."""
    for job in world.workloads():
        if (job.manifest.group, job.manifest.kind) != ("batch", "CronJob"):
            continue
        schedule, allowed = job.manifest.text("spec", "schedule"), job.manifest.text("spec", "concurrencyPolicy")
        minute = schedule.split()[0] if schedule.split() else ""
        often = bool(minute) and not minute.startswith("@") and not HOURLY.fullmatch(minute)
        gpus = sum(
            gpus_of(pods, path) * pods.count for pods in job.pod_sets() for path, _ in pods.containers(init=False)
        )
        suspended = job.manifest.get("spec", "suspend") is True
        deadline = job.manifest.get("spec", "jobTemplate", "spec", "activeDeadlineSeconds")
        between = seconds_between(schedule)
        if allowed == "Replace" and gpus and between and isinstance(deadline, int) and deadline > between:
            hours = f"{deadline / 3600:g} hours" if deadline >= 3600 else f"{deadline / 60:g} minutes"
            message = f"{schedule!r} replaces a run of {gpus} GPUs that may take {hours}; set concurrencyPolicy: Forbid"
            if not suspended:
                yield Problem(Place(job.manifest, ("spec", "concurrencyPolicy")), message)
        if often and gpus and allowed in ("", "Allow") and not suspended:
            message = f"{schedule!r} starts runs of {gpus} GPUs beside each other; set concurrencyPolicy: Forbid"
            yield Problem(Place(job.manifest, ("spec", "schedule")), message)


def seconds_between(schedule: str) -> int | None:
    """Return the seconds between two times of a schedule by the minute, the hour or the day; None for others."""
    fields = STEPS.get(schedule.strip(), schedule).split()
    if len(fields) != len("mhdMw") or any(field not in {"*", "?"} for field in fields[2:]):
        return None
    minute, hour = fields[:2]
    if step := EVERY.fullmatch(minute):
        return 60 * int(step[1] or 1) if hour in {"*", "*/1"} else None
    if not HOURLY.fullmatch(minute):
        return None
    if step := EVERY.fullmatch(hour):
        return 3600 * int(step[1] or 1)
    return 24 * 3600 if HOURLY.fullmatch(hour) else None
