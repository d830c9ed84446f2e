"""A job in Git must not delete itself after it ends.

Why: Argo CD creates every object that is in Git but not on the cluster. The next sync therefore starts the finished job
 again.
Fix: remove ttlSecondsAfterFinished and DeleteSelf; to delete a finished job, remove it from Git, and Argo CD prunes it.
Source: argoproj/argo-cd v3.5.1 docs/user-guide/auto_sync.md; kubernetes v1.35 pkg/controller/ttlafterfinished
"""

from collections.abc import Iterator

from trainyard.checks import HOOKS, Place, Problem, TrainingJob, World

PATHS = (
    ("spec", "ttlSecondsAfterFinished"),
    ("spec", "runPolicy", "ttlSecondsAfterFinished"),
    ("spec", "replicatedJobs", "*", "template", "spec", "ttlSecondsAfterFinished"),
)
OF_RAY = (
    ("spec", "deletionStrategy", "onSuccess", "policy"),
    ("spec", "deletionStrategy", "onFailure", "policy"),
    ("spec", "deletionStrategy", "deletionRules", "*", "policy"),
)
ITSELF = "DeleteSelf"
"""The policy by which KubeRay deletes the RayJob, too (kuberay v1.6.2 rayjob_types.go DeletionPolicyType)."""

SURVIVES = {"RayJob"}
"""KubeRay deletes the cluster of a RayJob, but keeps the RayJob."""


def check(world: World) -> Iterator[Problem]:
    """Check the training jobs that Argo CD applies, except hooks: these get a new name each time."""
    for job in world.training_jobs():
        if any(hook in job.manifest.annotations for hook in HOOKS):
            continue
        if world.synced or is_tracked(job):
            for path, policy in (found for pattern in OF_RAY for found in job.manifest.at(*pattern, of=str)):
                if policy == ITSELF:
                    message = f"policy is {ITSELF}: once the job is deleted, Argo CD starts it again; use DeleteCluster"
                    yield Problem(Place(job.manifest, path), message)
            if job.manifest.kind in SURVIVES:
                continue
            for path, seconds in (found for pattern in PATHS for found in job.manifest.at(*pattern, of=int)):
                message = (
                    f"ttlSecondsAfterFinished is {seconds}: once the job is deleted, Argo CD starts it again"
                    "; remove the field"
                )
                yield Problem(Place(job.manifest, path), message)


def is_tracked(job: TrainingJob) -> bool:
    """Say whether the object has an annotation of Argo CD, which then applies it."""
    return any(key.startswith("argocd.argoproj.io/") for key in job.manifest.annotations)
