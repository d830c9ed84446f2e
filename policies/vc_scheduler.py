"""The pods of a Volcano job are bound by Volcano.

Why: the default scheduler binds each pod by itself: minAvailable means nothing, and two jobs may each hold half.
Fix: write schedulerName: volcano, or leave it out.
Source: volcano-sh/volcano v1.14.1 pkg/controllers/job/job_controller_util.go createJobPod
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

DEFAULT = "default-scheduler"
"""The scheduler of every cluster, which knows no gangs of Volcano's."""


def check(world: World) -> Iterator[Problem]:
    """Look at Volcano jobs of several pods, which say who binds all of them."""
    for job in world.of("Job", group="batch.volcano.sh"):
        if job.get("spec", "minAvailable") == 1:
            continue
        for at in (("spec",), ("spec", "tasks", "*", "template", "spec")):
            for path, name in job.at(*at, "schedulerName", of=str):
                if name == DEFAULT:
                    message = "schedulerName is 'default-scheduler', which keeps no gang together; write volcano"
                    yield Problem(Place(job, path), message)
