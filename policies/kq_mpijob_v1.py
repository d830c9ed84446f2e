"""A queued MPIJob must have the apiVersion kubeflow.org/v2beta1.

Why: Kueue manages only v2beta1, the version of the MPI Operator. An MPIJob of v1 starts at once, without any quota.
Fix: write apiVersion: kubeflow.org/v2beta1 and install mpi-operator, or use another kind.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/mpijob/mpijob_controller.go gvk
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Problem, World


def check(world: World) -> Iterator[Problem]:
    """Check the version of every MPIJob with a queue."""
    for job in world.training_jobs():
        if job.queue_name is not None and (job.manifest.api_version, job.manifest.kind) == (
            "kubeflow.org/v1",
            "MPIJob",
        ):
            message = (
                "apiVersion is kubeflow.org/v1, which Kueue ignores: the job starts without quota"
                "; use kubeflow.org/v2beta1"
            )
            yield Problem(job.label(QUEUE_LABEL), message)
