"""A worker of an MPIJob has as many slots as GPUs.

Why: mpirun starts one rank per slot. Two ranks on one GPU end with NCCL's "Duplicate GPU detected". GPUs without a rank
 are paid for and stay idle.
Fix: set slotsPerWorker to the number of GPUs of a worker.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go newConfigMap; NCCL 2.30 src/init.cc
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import WHOLE_GPUS, Place, Problem, Severity, TrainingJob, World

SEVERITY = Severity.WARNING

OF_A_RANK = {"-g", "--ngpus"}
"""Options of nccl-tests for the GPUs of each process (nccl-tests v2.17 src/common.cu)."""

LONG = ("--ngpus=", "--tensor-parallel", "--tensor-model-parallel", "--gpus-per", "CUDA_VISIBLE_DEVICES=")


def check(world: World) -> Iterator[Problem]:
    """Check MPIJobs whose workers have whole GPUs."""
    for job in world.training_jobs():
        slots = job.manifest.get("spec", "slotsPerWorker")
        if job.manifest.kind != "MPIJob" or type(slots) is not int:
            continue
        for pods in job.pod_sets():
            gpus = sum(need.amount for name, need in pods.needs.items() if name in WHOLE_GPUS)
            if "Worker" not in pods.template or not gpus or slots == gpus:
                continue
            place, written = Place(job.manifest, ("spec", "slotsPerWorker")), f"slotsPerWorker is {slots}"
            if slots > gpus:
                yield Problem(place, f"{written}, but a worker has {gpus} GPU{'' if gpus == 1 else 's'}; write {gpus}")
            elif slots > 1 and not several_per_rank(job):
                yield Problem(place, f"{written}, so {gpus - slots} of {gpus} GPUs may stay idle; write {gpus}")


def several_per_rank(job: TrainingJob) -> bool:
    """Whether a command says how many GPUs, or which, each of its ranks takes."""
    words = [word for pods in job.pod_sets() for _, container in pods.containers() for word in words_of(container)]
    return any(word in OF_A_RANK or word.startswith(LONG) for word in words)


def words_of(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a container's command line."""
    for field in ("command", "args"):
        texts = container.get(field)
        for text in texts if isinstance(texts, list) else ():
            yield from str(text).split()
