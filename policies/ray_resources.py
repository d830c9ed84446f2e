"""Ray counts the same CPUs, memory and GPUs as its container has.

Why: without limits Ray promises the CPUs and memory of the whole node to its tasks. Tasks wait for ever for GPUs that
 num-gpus counts too many, and GPUs that it leaves out stay idle.
Fix: set limits of CPU and memory, and remove num-cpus, num-gpus and memory from rayStartParams.
Source: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go generateRayStartCommand
"""

from collections.abc import Iterator

from trainyard.checks import Place, Pods, Problem, TrainingJob, World, is_gpu, whole_number


def check(world: World) -> Iterator[Problem]:
    """Look at the Ray container of every group, which is the first."""
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.manifest.group == "ray.io" else ():
            if pods.name != "submitter":
                yield from of_group(job, pods)


def of_group(job: TrainingJob, pods: Pods) -> Iterator[Problem]:
    """Yield the resources that Ray would believe to have in the pods of one group, and has not."""
    group = pods.template[:-1]
    told = job.manifest.get(*group, "rayStartParams")
    told, limits, asked = told if isinstance(told, dict) else {}, dict[str, int](), set[str]()
    for path in [path for path, _ in pods.containers(init=False)][:1]:
        mine = [limit for limit in pods.limits(init=False) if limit.place.path[: len(path)] == path]
        limits = {item.resource: item.quantity.value() for item in mine}
        asked = {request.resource for request in pods.requests(init=False) if request.place.path[: len(path)] == path}
        known = {*limits, *(asked & {"cpu"}), *(told.keys() & {"memory"}), *({"cpu"} if "num-cpus" in told else ())}
        lacks = " or ".join(name for name in ("cpu", "memory") if name not in known)
        if lacks and not job.manifest.get(*group, "resources"):
            message = f"the Ray container has no limit of {lacks}, so Ray takes the whole node's; write it"
            yield Problem(Place(job.manifest, path), message)
    gpus = sum(count for name, count in limits.items() if is_gpu(name))
    for field, has in (("num-cpus", limits.get("cpu")), ("memory", limits.get("memory")), ("num-gpus", gpus)):
        says = whole_number(str(told.get(field, "")))
        if has is not None and says is not None and (says > has or (field == "num-gpus" and says < has)):
            message = f"{field} is {says}, but the container has {has}; leave it out"
            yield Problem(Place(job.manifest, (*group, "rayStartParams", field)), message)
