"""A job must not be deleted at the moment it ends.

Why: With ttlSecondsAfterFinished: 0 the job disappears with its pods, logs and events. Then it is unknown whether it
 failed.
Fix: set ttlSecondsAfterFinished long enough to read the logs, such as 86400 (one day).
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
"""KubeRay deletes the cluster of a RayJob, but keeps the RayJob."""


def check(world: World) -> Iterator[Problem]:
    """Check the training jobs that Argo CD does not apply; ft-ttl-gitops checks the others."""
    for job in world.training_jobs() if not world.synced else ():
        for path, seconds in (found for pattern in PATHS for found in job.manifest.at(*pattern, of=int)):
            if seconds == 0 and job.manifest.kind not in SURVIVES:
                message = (
                    "ttlSecondsAfterFinished is 0: the job is deleted with its logs when it ends"
                    "; write 86400 or similar"
                )
                yield Problem(Place(job.manifest, path), message)
