"""A deadline of a job leaves time to run.

Why: With activeDeadlineSeconds: 0 the job is over as soon as it starts. It does not mean that there is no limit.
Fix: remove the field, or write how many seconds the job may take.
Source: kubernetes v1.35 pkg/controller/job/job_controller.go pastActiveDeadline; kubeflow/training-operator v1.9.4
 pkg/core/job.go PastActiveDeadline
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

PATHS = (
    ("spec", "activeDeadlineSeconds"),
    ("spec", "runPolicy", "activeDeadlineSeconds"),
    ("spec", "replicatedJobs", "*", "template", "spec", "activeDeadlineSeconds"),
)


def check(world: World) -> Iterator[Problem]:
    """Look at the deadlines of training jobs; KubeRay's webhook and the API server refuse those of Ray and of pods."""
    for job in world.training_jobs():
        if job.manifest.group == "ray.io" or job.manifest.kind == "Pod":
            continue
        for path, seconds in (found for pattern in PATHS for found in job.manifest.at(*pattern, of=int)):
            if seconds <= 0:
                message = f"activeDeadlineSeconds is {seconds}, so the job ends when it starts; remove it"
                yield Problem(Place(job.manifest, path), message)
