"""A queued MPIJob is of the version that Kueue knows.

Why: Kueue knows v2beta1 of the MPI Operator alone, so that one of v1 starts at once, past every quota.
Fix: write kubeflow.org/v2beta1 and install mpi-operator, or take another kind.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/mpijob/mpijob_controller.go gvk
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look at the version of every MPIJob that names a queue."""
    for job in world.training_jobs():
        if job.queue_name is not None and (job.manifest.api_version, job.manifest.kind) == (
            "kubeflow.org/v1",
            "MPIJob",
        ):
            message = "Kueue never looks at an MPIJob of kubeflow.org/v1, so that it starts past the quota; use v2beta1"
            yield Problem(job.label(QUEUE_LABEL), message)
