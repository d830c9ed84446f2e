"""What controllers do when pods end: a life for each sort of controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trainyard.base.manifests import identity_of
from trainyard.faces.local.controllers.base import Object, Objects, Pod
from trainyard.faces.local.controllers.trainjob import Plan, runtime_of
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Step, UntilAll
from trainyard.faces.local.lives.job import JobLife
from trainyard.faces.local.lives.jobset import JobSetLife
from trainyard.faces.local.lives.kubeflow import MPILife, ReplicasLife
from trainyard.faces.local.lives.others import GroupsLife, RayLife, VolcanoLife

__all__ = ["GO_ON", "Exit", "Life", "Step", "life_of"]

Make = Callable[[Sequence[Pod], Object, Objects], Life]

KINDS: Mapping[tuple[str, str], Make] = {
    ("batch", "Job"): lambda pods, job, _: JobLife(pods, job=job),
    ("jobset.x-k8s.io", "JobSet"): lambda pods, job, _: JobSetLife(pods, jobset=job),
    ("trainer.kubeflow.org", "TrainJob"): lambda pods, job, objects: JobSetLife(
        pods, jobset=Plan(job, runtime_of(job, objects)).build()
    ),
    **dict.fromkeys(
        (("kubeflow.org", kind) for kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")),
        lambda pods, job, _: ReplicasLife(pods, job=job),
    ),
    ("kubeflow.org", "MPIJob"): lambda pods, job, _: MPILife(pods, job=job),
    ("batch.volcano.sh", "Job"): lambda pods, job, _: VolcanoLife(pods, job=job),
    ("ray.io", "RayJob"): lambda pods, job, _: RayLife(pods, job=job),
    ("ray.io", "RayCluster"): lambda pods, job, _: RayLife(pods, job=job),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): lambda pods, job, _: GroupsLife(pods, job=job),
}


def life_of(job: Object, objects: Objects, pods: Sequence[Pod]) -> Life:
    """Return the life of a job; that of a kind nobody knows ends when all of its pods have."""
    identity = identity_of(job)
    make = KINDS.get((identity.group, identity.kind))
    return make(pods, job, objects) if make else UntilAll(pods)
