"""A job is there for a while after it has ended.

Why: with 0 it is deleted at the moment at which it ends, with its pods, logs and events: nobody sees whether it failed.
Fix: write a time in which somebody looks, such as 86400.
Source: kubernetes v1.35 pkg/controller/ttlafterfinished; jobset v0.12.0 pkg/controllers/ttl_after_finished.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
PATHS = (
    ("spec", "ttlSecondsAfterFinished"),
    ("spec", "runPolicy", "ttlSecondsAfterFinished"),
    ("spec", "replicatedJobs", "*", "template", "spec", "ttlSecondsAfterFinished"),
)
SURVIVES = {"RayJob"}
"""KubeRay deletes the cluster of a RayJob, and leaves the RayJob."""


def check(world: World) -> Iterator[Problem]:
    """Look at every training job that nobody makes anew; of those in Git that Argo CD applies, another rule tells."""
    for job in world.training_jobs() if not world.synced else ():
        for path, seconds in (found for pattern in PATHS for found in job.manifest.at(*pattern, of=int)):
            if seconds == 0 and job.manifest.kind not in SURVIVES:
                message = "the job is deleted as soon as it ends, with its logs; write a time such as 86400"
                yield Problem(Place(job.manifest, path), message)
