"""A CronJob with GPUs does not start a run beside the one before.

Why: With concurrencyPolicy Allow, the default, each time of the schedule starts another run. Runs that take longer than
 the time between two pile up, until they hold every GPU.
Fix: set concurrencyPolicy: Forbid.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go ConcurrencyPolicy
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, gpus_of

SEVERITY = Severity.WARNING
HOURLY = re.compile(r"\d+")
"""A field for minutes that names one minute of the hour."""


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
        if often and gpus and allowed in ("", "Allow") and job.manifest.get("spec", "suspend") is not True:
            message = f"{schedule!r} starts runs of {gpus} GPUs beside each other; set concurrencyPolicy: Forbid"
            yield Problem(Place(job.manifest, ("spec", "schedule")), message)
