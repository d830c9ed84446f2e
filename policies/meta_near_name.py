"""Schedulers, runtime classes and GPUs that pods name have the names that they are known by.

Why: Kubernetes takes any name. A pod with a mistyped scheduler or GPU stays Pending for ever. One with a mistyped
 runtime class is never created.
Fix: write the name that was meant.
Source: NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go (runtime classes); NVIDIA/k8s-device-plugin v0.20.0
 docs/gpu-feature-discovery (nvidia.com/gpu.product is the name of nvidia-smi with dashes)
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from trainyard.checks import Place, Pods, Problem, Severity, World, is_near

SEVERITY = Severity.WARNING

KNOWN = {
    "schedulerName": ("default-scheduler", "volcano", "kai-scheduler", "scheduler-plugins-scheduler", "yunikorn"),
    "runtimeClassName": ("nvidia", "nvidia-cdi", "nvidia-legacy", "gvisor", "kata", "kata-qemu", "runc", "crun"),
}
"""Names that operators and distributions give."""

PRODUCT = "nvidia.com/gpu.product"

GPUS = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu")
"""Resources that device plugins advertise; others of their groups may be a site's own."""

MACHINES = {"nvidia.com/pgpu", "nvidia.com/vgpu", "amd.com/vgpu"}
"""Whole and virtual GPUs for virtual machines (NVIDIA/kubevirt-gpu-device-plugin)."""

_NVIDIA = ("nvidia.com/gpus", "nvidia/gpu", "nvdia.com/gpu", "nvidia.com/cuda", "alpha.kubernetes.io/nvidia-gpu")
OTHER = {
    **dict.fromkeys((*_NVIDIA, "nvidia.com/gpu.count", PRODUCT), GPUS[0]),
    **dict.fromkeys(("amd.com/gpus", "amd/gpu", "amd.com/rocm"), GPUS[2]),
    "nvidia.com/gpu-shared": GPUS[1],
}
"""Resources that no device plugin has, in small letters, each with the one that was meant."""

PARTS = "nvidia.com/mig-"
PARTED = re.compile(r"nvidia\.com/mig-(?:\d+c\.)?\d+g\.\d+gb(?:\.[a-z.-]+)?")
"""Parts of GPUs (NVIDIA/k8s-device-plugin v0.20.0 README.md)."""

SOLD = {
    "NVIDIA-H100-SXM5-80GB": "NVIDIA-H100-80GB-HBM3",
    "NVIDIA-H100-SXM": "NVIDIA-H100-80GB-HBM3",
    "NVIDIA-H100-SXM5": "NVIDIA-H100-80GB-HBM3",
    "NVIDIA-H100-SXM-80GB": "NVIDIA-H100-80GB-HBM3",
    "NVIDIA-H200-SXM": "NVIDIA-H200",
    "NVIDIA-H200-SXM-141GB": "NVIDIA-H200",
    "NVIDIA-A100-80GB-SXM4": "NVIDIA-A100-SXM4-80GB",
    "NVIDIA-A100-80GB": "NVIDIA-A100-SXM4-80GB",
    "NVIDIA-V100-SXM2-32GB": "Tesla-V100-SXM2-32GB",
    "NVIDIA-V100-SXM2-16GB": "Tesla-V100-SXM2-16GB",
    "NVIDIA-T4": "Tesla-T4",
}
"""Names of data sheets that no label has, each with the label of the GPU (nvidia-smi, drivers R535 to R580)."""


def check(world: World) -> Iterator[Problem]:
    """Look at what pods of every workload ask for by name."""
    for job in world.workloads():
        for pods in job.pod_sets():
            yield from misspelt(pods)
    for job in world.of("Job", group="batch.volcano.sh"):
        name = job.get("spec", "schedulerName")
        if isinstance(name, str) and (near := near_of("schedulerName", name)):
            message = f"schedulerName is {name!r}, which nothing known has; did you mean {near!r}?"
            yield Problem(Place(job, ("spec", "schedulerName")), message)


def near_of(field: str, name: str) -> str | None:
    """Return the known name that is nearly this one; None where it is known, or like none."""
    return None if name in KNOWN[field] else next(iter(get_close_matches(name, KNOWN[field], 1, 0.85)), None)


def misspelt(pods: Pods) -> Iterator[Problem]:
    """Yield names that nearly are known ones, and GPUs that have another name."""
    for field in KNOWN:
        name = pods.spec.get(field)
        if isinstance(name, str) and (near := near_of(field, name)):
            message = f"{field} is {name!r}, which nothing known has; did you mean {near!r}?"
            yield Problem(pods.place("spec", field), message)
    yield from unknown_resources(pods)
    for path, value in wanted_products(pods):
        if value.removesuffix("-SHARED") in SOLD:
            yield Problem(
                Place(pods.manifest, path),
                f"no node is labelled {value!r}; use {SOLD[value.removesuffix('-SHARED')]!r}",
            )


def unknown_resources(pods: Pods) -> Iterator[Problem]:
    """Yield resources that nearly are GPUs; what is only a request, the API server refuses."""
    for place, resource, _ in pods.limits():
        meant = OTHER.get(resource.lower())
        if meant is None and resource not in (*GPUS, *MACHINES) and not PARTED.fullmatch(resource):
            meant = next((name for name in GPUS if is_near(resource, name)), None)
        if meant is not None:
            yield Problem(place, f"no node has the resource {resource!r}; did you mean {meant!r}?")
        elif resource.startswith(PARTS) and not PARTED.fullmatch(resource):
            message = f"no node has the resource {resource!r}; a part of a GPU is named as nvidia.com/mig-1g.10gb"
            yield Problem(place, message)


def wanted_products(pods: Pods) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the products that pods select nodes by, each with its place."""
    spec = (*pods.template, "spec")
    yield from pods.manifest.at(*spec, "nodeSelector", PRODUCT, of=str)
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "*")
    for path, term in pods.manifest.at(*spec, *required, "matchExpressions", "*", of=dict):
        if term.get("key") == PRODUCT and term.get("operator") == "In":
            yield from pods.manifest.at(*path, "values", "*", of=str)
