"""Services of NVIDIA NIM use no more GPUs than their licences cover.

Why: NVIDIA AI Enterprise is licensed by GPU, and nothing on a cluster counts. With autoscaling a service may use its
 largest number of pods.
Fix: lower replicas or maxReplicas, or raise licensedGpus of the cluster when more licences are bought.
Source: NVIDIA/k8s-nim-operator v3.1.2 api/apps/v1alpha1/nimservice_types.go; NVIDIA AI Enterprise Licensing Guide
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World, is_gpu, whole_number


def check(world: World) -> Iterator[Problem]:
    """Add up the GPUs of all services on a described cluster whose file says how many are licensed."""
    licensed = world.inventory.licensed_gpus if world.inventory else None
    if licensed is None:
        return
    total = 0
    for service, spec in [*services(world), *steps(world)]:
        pods, path = pods_of(service, spec)
        before, total = total, total + pods * gpus_of_pod(service, spec)
        if before <= licensed < total:
            message = f"NIM services up to {service.name!r} use {total} GPUs, but licensedGpus is {licensed}; use fewer"
            yield Problem(Place(service, path), message)


Field = tuple[str | int, ...]


def services(world: World) -> Iterator[tuple[Manifest, Field]]:
    """Yield every service with the place of its specification."""
    for service in world.of("NIMService", group="apps.nvidia.com"):
        yield service, ("spec",)


def steps(world: World) -> Iterator[tuple[Manifest, Field]]:
    """Yield every pipeline with the place of each service that it switches on, which is off by default."""
    for pipeline in world.of("NIMPipeline", group="apps.nvidia.com"):
        for (*path, _), on in pipeline.at("spec", "services", "*", "enabled", of=bool):
            if on:
                yield pipeline, (*path, "spec")


def pods_of(service: Manifest, spec: Field) -> tuple[int, Field]:
    """Return the most pods that a service has, and the field that says so."""
    if service.get(*spec, "scale", "enabled") is True:
        path: Field = (*spec, "scale", "hpa", "maxReplicas")
    else:
        path = (*spec, "replicas")
    said = service.get(*path)
    nodes = service.get(*spec, "multiNode", "parallelism", "pipeline")
    each = nodes if isinstance(nodes, int) and nodes > 0 else 1
    return (said if isinstance(said, int) else 1) * each, path


def gpus_of_pod(service: Manifest, spec: Field) -> int:
    """Return the GPUs of one pod as far as they are written; the operator may add those of a model's profile."""
    for field in ("limits", "requests"):
        amounts = service.get(*spec, "resources", field)
        if isinstance(amounts, dict):
            found = [whole_number(str(amount)) or 0 for name, amount in amounts.items() if is_gpu(name)]
            if found:
                return sum(found)
    tensor = service.get(*spec, "multiNode", "parallelism", "tensor")
    return tensor if isinstance(tensor, int) and tensor > 0 else 1
