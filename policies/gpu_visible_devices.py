"""No variable says which GPUs a container sees, or that it uses none.

Why: the device plugin gives a pod its GPUs and numbers them from 0; a fixed list leaves some idle, names one that is
 not there, or shows the container GPUs of others.
Fix: remove the variable; the container sees the GPUs that it asks for.
Source: NVIDIA/k8s-device-plugin v0.20.0 README.md; kubernetes v1.35 pkg/kubelet/kubelet_pods.go;
 jax v0.8 jax/_src/xla_bridge.py; huggingface/accelerate v1.11 src/accelerate/state.py
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Problem, Variable, World, is_gpu, whole_number

RUNTIME = "NVIDIA_VISIBLE_DEVICES"
"""Read by the runtime, in the numbers of the node; the plugin sets it, and what the pod says comes after."""

PROGRAM = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}
"""Read by the program, in the numbers of the container."""

NONE = {"", "-1", "NoDevFiles"}
"""What no GPU is called, so that CUDA shows none."""

INDICES = re.compile(r"[0-9]{1,4}(?:,[0-9]{1,4})*")
CHOSEN = re.compile(r"all|(?:(?:GPU|MIG)-[^,\s]+|\d+(?::\d+)?)(?:,(?:(?:GPU|MIG)-[^,\s]+|\d+(?::\d+)?))*")


CPU = {
    "JAX_PLATFORMS": {"cpu"},
    "JAX_PLATFORM_NAME": {"cpu"},
    "ACCELERATE_USE_CPU": {"y", "yes", "t", "true", "on", "1"},
}
"""By a library's variable, the values with which it looks for no GPU."""


def check(world: World) -> Iterator[Problem]:
    """Look at the environment of every container of whatever trains."""
    for job in world.workloads():
        asked = {path: gpus_of(container) for path, container in job.containers()}
        for variable in job.variables():
            value = (variable.value or "").strip()
            gpus = asked[variable.container]
            if variable.name == RUNTIME and CHOSEN.fullmatch(value) and (gpus or job.manifest.kind != "Pod"):
                message = (
                    f"{RUNTIME} is {value!r}, which takes the place of the devices that the pod is given; remove it"
                )
                yield Problem(variable.place, message)
            elif variable.name in PROGRAM and variable.value is not None and value in NONE and gpus:
                yield Problem(variable.place, f"{variable.name} is {value!r}, which hides all {gpus} GPUs; remove it")
            elif gpus and value.lower() in CPU.get(variable.name, ()):
                message = f"{variable.name} is {value!r}, which leaves all {gpus} GPUs idle; remove it"
                yield Problem(variable.place, message)
            elif variable.name in PROGRAM and INDICES.fullmatch(value):
                yield from fixed(variable, value, gpus)


def fixed(variable: Variable, value: str, gpus: int | None) -> Iterator[Problem]:
    """Yield a list of GPUs that is not all that the container has; nothing where that is not known."""
    if gpus and sorted(map(int, value.split(","))) != list(range(gpus)):
        yield Problem(
            variable.place, f"{variable.name} is {value!r}, which is not all that the container has ({gpus}); remove it"
        )


def gpus_of(container: Mapping[str, Any]) -> int | None:
    """Return how many GPUs a container, or the trainer of a TrainJob, asks for; None where nothing is said."""
    for field in ("resources", "resourcesPerNode"):
        resources = container.get(field)
        limits = resources.get("limits") if isinstance(resources, dict) else None
        found = [amount for name, amount in limits.items() if is_gpu(name)] if isinstance(limits, dict) else []
        if found:
            return whole_number(str(found[0]))
    return None
