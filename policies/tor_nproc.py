"""A launcher starts a process for each GPU of its container.

Why: two processes on one GPU end with NCCL's "Duplicate GPU detected", and GPUs without a process are paid for and
 idle.
Fix: write as many processes as the container has GPUs, or gpu, which counts them.
Source: pytorch v2.9 torch/distributed/run.py; NCCL 2.30 src/init.cc; training-operator v1.9.4 pytorch/envvar.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Pods, Problem, Severity, TrainingJob, World, launched, whole_number

OPTION = "--nproc-per-node"


def check(world: World) -> Iterator[Problem]:
    """Look at torchrun in containers with GPUs, where the number of processes is written, there or for a PyTorchJob."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            for container, launcher, options in launched(pods):
                written = options.get(OPTION) or of_job(job)
                gpus = gpus_of(pods, container)
                if launcher.startswith("accelerate") or written is None or not gpus:
                    continue
                place, processes = written[0], whole_number(written[1])
                if processes is None:
                    continue
                count = "1 process" if processes == 1 else f"{processes} processes"
                if processes > gpus:
                    yield Problem(place, f"{launcher} starts {count}, but the container has {of(gpus)}")
                elif 0 < processes < gpus:
                    message = f"{launcher} starts {count}, but the container has {of(gpus)}; the others may stay idle"
                    yield Problem(place, message, severity=Severity.WARNING)


def of(gpus: int) -> str:
    """Return a number of GPUs in words."""
    return "1 GPU" if gpus == 1 else f"{gpus} GPUs"


def of_job(job: TrainingJob) -> tuple[Place, str] | None:
    """Return the number of processes in a PyTorchJob, which its operator hands to torchrun as a variable."""
    said = job.manifest.text("spec", "nprocPerNode") if job.manifest.kind == "PyTorchJob" else ""
    return (job.place("spec", "nprocPerNode"), said) if said else None


def gpus_of(pods: Pods, container: tuple[str | int, ...]) -> int:
    """Return how many whole GPUs a container has."""
    return sum(
        amount.quantity.value()
        for amount in pods.limits(init=False)
        if amount.resource in WHOLE_GPUS and amount.place.path[: len(container)] == container
    )
