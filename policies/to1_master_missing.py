"""A PyTorchJob on several pods has a Master, or an elasticPolicy.

Why: Without both the operator sets no address and no rank. Every worker trains alone and writes the same
 checkpoint, or waits for the others at its own address.
Fix: move one replica to a Master, or set elasticPolicy.
Source: kubeflow/training-operator v1.9.4 pkg/controller.v1/pytorch/envvar.go setPodEnv
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, TrainingJob, World

REPLICAS = ("spec", "pytorchReplicaSpecs")
OWN = re.compile(r"master[-_]addr|rdzv[-_]endpoint|main[-_]process[-_]ip|init[-_]method|tcp://", re.IGNORECASE)
"""How programs are told where they meet, if not by the operator."""


def check(world: World) -> Iterator[Problem]:
    """Look at PyTorchJobs of Workers alone, which nobody tells where they meet."""
    for job in world.training_jobs():
        if job.manifest.kind != "PyTorchJob" or job.manifest.get("spec", "elasticPolicy"):
            continue
        roles = job.manifest.get(*REPLICAS)
        workers = [pods for pods in job.pod_sets() if pods.name == "worker" and pods.count > 1]
        if isinstance(roles, dict) and "Master" not in roles and workers and not meets(job, workers[0]):
            message = "without a Master the operator sets no address and no rank, so each worker trains alone"
            yield Problem(
                Place(job.manifest, (*REPLICAS, "Worker"), key=True), f"{message}; move one replica to a Master"
            )


def meets(job: TrainingJob, pods: Pods) -> bool:
    """Whether the pods say themselves where they meet, or may have it from elsewhere."""
    if any(OWN.search(variable.name) for variable in job.variables()):
        return True
    for _, container in pods.containers(init=False):
        words = [str(word) for field in ("command", "args") for word in container.get(field) or ()]
        if container.get("envFrom") or any(map(OWN.search, words)):
            return True
    return False
