"""A launcher must start one process for each GPU of its container.

Why: Two processes on one GPU end with NCCL's "Duplicate GPU detected". GPUs without a process are paid for and stay
 idle.
Fix: set --nproc-per-node, nprocPerNode or numProcPerNode to the number of GPUs, or to gpu, which counts them.
Source: pytorch v2.9 torch/distributed/run.py; NCCL 2.30 src/init.cc; training-operator v1.9.4 pytorch/envvar.go;
 huggingface/accelerate 1.15.0.dev0 src/accelerate/utils/launch.py
"""

from collections.abc import Iterator
from difflib import get_close_matches

from trainyard.checks import Place, Problem, Severity, TrainingJob, World, gpus_of, launched, whole_number

OPTION = "--nproc-per-node"

COUNTED = ("auto", "cpu", "gpu", "xpu")
"""Words for the number that torchrun counts itself; it ends with an error at another."""

NEAR = 0.8

OF_JOB = {"PyTorchJob": ("spec", "nprocPerNode"), "TrainJob": ("spec", "trainer", "numProcPerNode")}
"""Where a job names the processes of a node."""

TOTAL, MACHINES, SETTINGS = "--num-processes", "--num-machines", "--config-file"
"""Accelerate's: how many processes there are on all nodes together, how many nodes, and where else it may read that."""

ON_CPUS = {"--cpu", "--use-cpu", "--gpu-ids"}
"""Options with which Accelerate has no process for each GPU of the container."""


def check(world: World) -> Iterator[Problem]:
    """Look at torchrun and Accelerate in containers with GPUs, where the number of processes is written."""
    for job in world.all_jobs():
        found = {(problem.place.path, problem.message): problem for problem in of_job(job)}
        yield from found.values()  # nprocPerNode of a PyTorchJob is one field for all its replicas


def of_job(job: TrainingJob) -> Iterator[Problem]:
    """Yield the problems of each launcher in a job's containers."""
    for pods in job.pod_sets():
        for container, launcher, options in launched(pods):
            gpus = gpus_of(pods, container)
            if launcher.startswith("accelerate"):
                written = by_machine(options)
            else:
                written = options.get(OPTION) or processes_of_job(job)
            if written is not None and gpus:
                yield from compare(launcher, written, gpus)


def compare(launcher: str, written: tuple[Place, str], gpus: int) -> Iterator[Problem]:
    """Yield a number of processes that is not that of the container's GPUs."""
    place, processes = written[0], whole_number(written[1])
    if processes is None:
        near = get_close_matches(written[1].lower(), COUNTED, 1, NEAR)
        if near and written[1] not in COUNTED and not launcher.startswith("accelerate"):
            yield Problem(place, f"{launcher} does not know {written[1]!r} processes; did you mean {near[0]!r}?")
        return
    hint = "count those of all nodes" if launcher.startswith("accelerate") else f"use {gpus}"
    count = "1 process" if processes == 1 else f"{processes} processes"
    if processes > gpus:
        yield Problem(place, f"{launcher} starts {count}, but the container has {gpu_text(gpus)}; {hint}")
    elif 0 < processes < gpus:
        message = f"{launcher} starts {count}, so {gpus - processes} of {gpu_text(gpus)} may stay idle; {hint}"
        yield Problem(place, message, severity=Severity.WARNING)


def by_machine(options: dict[str, tuple[Place, str]]) -> tuple[Place, str] | None:
    """Return how many processes Accelerate starts in a container; None where its settings may say otherwise."""
    if TOTAL not in options or not ON_CPUS.isdisjoint(options) or (SETTINGS in options and MACHINES not in options):
        return None
    place, total = options[TOTAL]
    machines, processes = whole_number(options.get(MACHINES, (place, "1"))[1]), whole_number(total)
    return (place, str(processes // machines)) if machines and processes and processes >= machines else None


def gpu_text(gpus: int) -> str:
    """Return a number of GPUs with its unit."""
    return "1 GPU" if gpus == 1 else f"{gpus} GPUs"


def processes_of_job(job: TrainingJob) -> tuple[Place, str] | None:
    """Return the processes that a job names, which its operator gives to torchrun as a variable."""
    path = OF_JOB.get(job.manifest.kind)
    said = job.manifest.get(*path) if path else None
    return (job.place(*path), str(said)) if path and isinstance(said, (str, int)) else None
