"""Ray must count the same CPUs, memory and GPUs as its container has.

Why: Without limits Ray promises the CPUs and memory of the whole node to its tasks. Tasks wait forever for GPUs that
 num-gpus counts too many, and GPUs that it omits stay idle.
Fix: set limits of CPU and memory, and remove num-cpus, num-gpus and memory from rayStartParams.
Source: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go generateRayStartCommand
"""

from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, TrainingJob, World, is_gpu, whole_number


def check(world: World) -> Iterator[Problem]:
    """Check the Ray container of every group, which is the first container."""
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.manifest.group == "ray.io" else ():
            if pods.name != "submitter":
                yield from miscounts(job, pods)


def miscounts(job: TrainingJob, pods: Pods) -> Iterator[Problem]:
    """Yield the resources that Ray would count in the pods of one group, but that the container does not have."""
    group = pods.template[:-1]
    params = job.manifest.get(*group, "rayStartParams")
    params, limits, requested = params if isinstance(params, dict) else {}, dict[str, int](), set[str]()
    for path in [path for path, _ in pods.containers(init=False)][:1]:
        own_limits = [limit for limit in pods.limits(init=False) if limit.place.path[: len(path)] == path]
        limits = {item.resource: item.quantity.value() for item in own_limits}
        requested = {
            request.resource for request in pods.requests(init=False) if request.place.path[: len(path)] == path
        }
        known = {
            *limits,
            *(requested & {"cpu"}),
            *(params.keys() & {"memory"}),
            *({"cpu"} if "num-cpus" in params else ()),
        }
        missing = " or ".join(name for name in ("cpu", "memory") if name not in known)
        if missing and not job.manifest.get(*group, "resources"):
            message = f"the Ray container has no limit of {missing}, so Ray assumes that of the whole node; set it"
            yield Problem(Place(job.manifest, path), message)
    gpus = sum(count for name, count in limits.items() if is_gpu(name))
    for field, has in (("num-cpus", limits.get("cpu")), ("memory", limits.get("memory")), ("num-gpus", gpus)):
        written = whole_number(str(params.get(field, "")))
        if has is not None and written is not None and (written > has or (field == "num-gpus" and written < has)):
            message = f"{field} is {written}, but the container has {has}; remove it"
            yield Problem(Place(job.manifest, (*group, "rayStartParams", field)), message)
