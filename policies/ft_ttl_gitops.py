"""A job in Git does not delete itself when it has ended.

Why: Argo CD makes what is in Git and not on the cluster, so the job that has ended trains again from the next sync on.
Fix: remove the time to live; take the job out of Git when it has ended, and Argo CD prunes it.
Source: argoproj/argo-cd v3.5.1 docs/user-guide/auto_sync.md; kubernetes v1.35 pkg/controller/ttlafterfinished
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, TrainingJob, World

PATHS = (
    ("spec", "ttlSecondsAfterFinished"),
    ("spec", "runPolicy", "ttlSecondsAfterFinished"),
    ("spec", "replicatedJobs", "*", "template", "spec", "ttlSecondsAfterFinished"),
)
HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")
SURVIVES = {"RayJob"}
"""KubeRay deletes the cluster of a RayJob, and leaves the RayJob."""


def check(world: World) -> Iterator[Problem]:
    """Look at every training job that Argo CD applies and that is no hook, which has a name of its own each time."""
    for job in world.training_jobs():
        if job.manifest.kind in SURVIVES or any(hook in job.manifest.annotations for hook in HOOKS):
            continue
        if world.synced or is_tracked(job):
            for path, seconds in (found for pattern in PATHS for found in job.manifest.at(*pattern, of=int)):
                message = f"the job is deleted {seconds} s after its end, and Argo CD makes it again; remove the field"
                yield Problem(Place(job.manifest, path), message)


def is_tracked(job: TrainingJob) -> bool:
    """Say whether an annotation of Argo CD's own tells that it applies the object."""
    return any(key.startswith("argocd.argoproj.io/") for key in job.manifest.annotations)
