"""A launcher must start one process for each GPU of its container.

Why: Two processes on one GPU end with NCCL's "Duplicate GPU detected". GPUs without a process are paid for and stay
 idle.
Fix: set --nproc-per-node, or nprocPerNode of a PyTorchJob, to the number of GPUs, or to gpu, which counts them.
Source: pytorch v2.9 torch/distributed/run.py; NCCL 2.30 src/init.cc; training-operator v1.9.4 pytorch/envvar.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Pods, Problem, Severity, TrainingJob, World, launched, whole_number

OPTION = "--nproc-per-node"


def check(world: World) -> Iterator[Problem]:
    """Check torchrun in containers with GPUs, if the command or a PyTorchJob sets the number of processes."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            for container, launcher, options in launched(pods):
                written = options.get(OPTION) or processes_of_job(job)
                gpus = gpus_of(pods, container)
                if launcher.startswith("accelerate") or written is None or not gpus:
                    continue
                place, processes = written[0], whole_number(written[1])
                if processes is None:
                    continue
                count = "1 process" if processes == 1 else f"{processes} processes"
                if processes > gpus:
                    yield Problem(
                        place, f"{launcher} starts {count}, but the container has {gpu_text(gpus)}; use {gpus}"
                    )
                elif 0 < processes < gpus:
                    message = (
                        f"{launcher} starts {count}, so {gpus - processes} of {gpu_text(gpus)} may stay idle"
                        f"; use {gpus}"
                    )
                    yield Problem(place, message, severity=Severity.WARNING)


def gpu_text(gpus: int) -> str:
    """Return a number of GPUs with its unit."""
    return "1 GPU" if gpus == 1 else f"{gpus} GPUs"


def processes_of_job(job: TrainingJob) -> tuple[Place, str] | None:
    """Return nprocPerNode of a PyTorchJob, which its operator gives to torchrun as a variable."""
    said = job.manifest.text("spec", "nprocPerNode") if job.manifest.kind == "PyTorchJob" else ""
    return (job.place("spec", "nprocPerNode"), said) if said else None


def gpus_of(pods: Pods, container: tuple[str | int, ...]) -> int:
    """Return the whole GPUs of a container."""
    return sum(
        amount.quantity.value()
        for amount in pods.limits(init=False)
        if amount.resource in WHOLE_GPUS and amount.place.path[: len(container)] == container
    )
