"""PyTorch must notice a lost rank: no variable may turn that off.

Why: Otherwise the other ranks wait for ever in their collectives. They keep their GPUs, and no restart begins.
Fix: remove the variable; PyTorch's default ends every rank when one fails or times out.
Source: pytorch v2.9 torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp ErrorHandlingMode, TORCH_NCCL_ASYNC_ERROR_HANDLING
"""

from collections.abc import Iterator

from trainyard.checks import Pods, Problem, Severity, Variable, World, environment, is_gpu, whole_number

SEVERITY = Severity.WARNING

HANDLING = {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"}
"""What a rank does with an error: 0 nothing, 1 and 3 it ends, 2 it goes on with communicators that are gone."""

GOES_ON = {0: "so ranks that lost another one wait for ever", 2: "so a rank goes on after its communicators are gone"}

BLOCKING = {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}
"""Whether the host waits for every collective."""


def check(world: World) -> Iterator[Problem]:
    """Look at the environment of the pods with GPUs of jobs that have several ranks."""
    for job in world.training_jobs():
        on = [pods for pods in job.pod_sets() if gpus_of(pods)]
        if sum(pods.count * gpus_of(pods) for pods in on) > 1:
            for pods in on:
                for variable in environment(pods, init=False):
                    yield from problems(variable)


def gpus_of(pods: Pods) -> int:
    """Return how many GPUs, or parts of them, a pod asks for."""
    return sum(int(need.amount) for resource, need in pods.needs.items() if is_gpu(resource))


def problems(variable: Variable) -> Iterator[Problem]:
    """Yield the problem of a variable with which a lost rank is not noticed, or every step is slow."""
    value = whole_number((variable.value or "").strip())
    if variable.name in HANDLING and value in GOES_ON:
        yield Problem(variable.place, f"{variable.name} is {value}, {GOES_ON[value]}; remove it")
    elif variable.name in BLOCKING and value:
        message = f"{variable.name} is {value}, so the host waits for each collective and steps get slow; remove it"
        yield Problem(variable.place, message)
