"""A worker of an MPIJob must not have more slots than GPUs.

Why: mpirun starts one rank per slot, and two ranks on one GPU end with NCCL's "Duplicate GPU detected".
Fix: set slotsPerWorker to the number of GPUs of a worker.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go newConfigMap; NCCL 2.30 src/init.cc
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Check MPIJobs whose workers have whole GPUs."""
    for job in world.training_jobs():
        slots = job.manifest.get("spec", "slotsPerWorker")
        if job.manifest.kind != "MPIJob" or type(slots) is not int:
            continue
        for pods in job.pod_sets():
            gpus = sum(need.amount for name, need in pods.needs.items() if name in WHOLE_GPUS)
            if "Worker" in pods.template and 0 < gpus < slots:
                message = (
                    f"slotsPerWorker is {slots}, but a worker has {gpus} GPU{'' if gpus == 1 else 's'}; write {gpus}"
                )
                yield Problem(Place(job.manifest, ("spec", "slotsPerWorker")), message)
