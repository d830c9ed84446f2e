"""A Volcano Job must use the scheduler of Volcano.

Why: The default scheduler binds each pod alone and ignores minAvailable. Two jobs can each start half of their pods,
 and wait for each other forever.
Fix: write schedulerName: volcano, or remove the field.
Source: volcano-sh/volcano v1.14.1 pkg/controllers/job/job_controller_util.go createJobPod
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

DEFAULT = "default-scheduler"
"""The scheduler of every cluster, which does not support Volcano's gangs."""


def check(world: World) -> Iterator[Problem]:
    """Check the scheduler of Volcano jobs whose pods must start together."""
    for job in world.of("Job", group="batch.volcano.sh"):
        if job.get("spec", "minAvailable") == 1:
            continue
        for at in (("spec",), ("spec", "tasks", "*", "template", "spec")):
            for path, name in job.at(*at, "schedulerName", of=str):
                if name == DEFAULT:
                    message = "schedulerName is 'default-scheduler', which ignores minAvailable; write volcano"
                    yield Problem(Place(job, path), message)
