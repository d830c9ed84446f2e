"""No environment variable may select or hide GPUs of a container.

Why: The device plugin assigns GPUs to the pod and numbers them from 0. A fixed list leaves GPUs idle, names GPUs that
 do not exist, or exposes GPUs of other pods.
Fix: remove the variable; the container sees the GPUs that it requests.
Source: NVIDIA/k8s-device-plugin v0.20.0 README.md; kubernetes v1.35 pkg/kubelet/kubelet_pods.go;
 jax v0.8 jax/_src/xla_bridge.py; huggingface/accelerate v1.11 src/accelerate/state.py
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Problem, Variable, World, all_variables, is_gpu, whole_number

RUNTIME = "NVIDIA_VISIBLE_DEVICES"
"""The container runtime reads it, with the node's GPU numbers; the pod's value overrides the device plugin's."""

PROGRAM = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}
"""The program reads them, with the container's GPU numbers."""

NONE = {"", "-1", "NoDevFiles"}
"""Values that name no GPU, so that CUDA shows none."""

INDICES = re.compile(r"[0-9]{1,4}(?:,[0-9]{1,4})*")
CHOSEN = re.compile(r"all|(?:(?:GPU|MIG)-[^,\s]+|\d+(?::\d+)?)(?:,(?:(?:GPU|MIG)-[^,\s]+|\d+(?::\d+)?))*")


CPU = {
    "JAX_PLATFORMS": {"cpu"},
    "JAX_PLATFORM_NAME": {"cpu"},
    "ACCELERATE_USE_CPU": {"y", "yes", "t", "true", "on", "1"},
}
"""Variables of libraries, and the values with which they use no GPU."""


def check(world: World) -> Iterator[Problem]:
    """Check the environment of every container of training jobs, and of objects that create them."""
    for job in world.workloads():
        requested = {path: gpus_of(container) for path, container in job.containers()}
        for variable in all_variables(job):
            value = (variable.value or "").strip()
            gpus = requested.get(variable.container)
            if variable.name == RUNTIME and CHOSEN.fullmatch(value) and (gpus or job.manifest.kind != "Pod"):
                message = f"{RUNTIME} is {value!r}, which overrides the GPUs that the pod was assigned; remove it"
                yield Problem(variable.place, message)
            elif variable.name in PROGRAM and variable.value is not None and value in NONE and gpus:
                yield Problem(
                    variable.place, f"{variable.name} is {value!r}, which hides every GPU of the container; remove it"
                )
            elif gpus and value.lower() in CPU.get(variable.name, ()):
                message = f"{variable.name} is {value!r}, which leaves every GPU of the container idle; remove it"
                yield Problem(variable.place, message)
            elif variable.name in PROGRAM and INDICES.fullmatch(value):
                yield from chosen_gpus(variable, value, gpus)


def chosen_gpus(variable: Variable, value: str, gpus: int | None) -> Iterator[Problem]:
    """Yield a problem if a list of GPUs differs from those of the container, if their number is known."""
    if gpus and sorted(map(int, value.split(","))) != list(range(gpus)):
        count = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
        message = f"{variable.name} is {value!r}, but the container has {count}, numbered from 0; remove it"
        yield Problem(variable.place, message)


def gpus_of(container: Mapping[str, Any]) -> int | None:
    """Return the GPUs that a container, or a TrainJob's trainer, requests; None if it does not say."""
    for field in ("resources", "resourcesPerNode"):
        resources = container.get(field)
        limits = resources.get("limits") if isinstance(resources, dict) else None
        found = [amount for name, amount in limits.items() if is_gpu(name)] if isinstance(limits, dict) else []
        if found:
            return whole_number(str(found[0]))
    return None
