"""A worker of an MPIJob has no more slots than GPUs.

Why: mpirun starts a rank for each slot, and two ranks of one GPU end with NCCL's "Duplicate GPU detected".
Fix: write as many slots as a worker has GPUs.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go newConfigMap; NCCL 2.30 src/init.cc
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at MPIJobs whose workers have whole GPUs."""
    for job in world.training_jobs():
        slots = job.manifest.get("spec", "slotsPerWorker")
        if job.manifest.kind != "MPIJob" or type(slots) is not int:
            continue
        for pods in job.pod_sets():
            gpus = sum(need.amount for name, need in pods.needs.items() if name in WHOLE_GPUS)
            if "Worker" in pods.template and 0 < gpus < slots:
                message = f"slotsPerWorker is {slots}, but a worker has {gpus} GPUs; write {gpus}"
                yield Problem(Place(job.manifest, ("spec", "slotsPerWorker")), message)
