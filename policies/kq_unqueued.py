"""Pods with GPUs beside the runs are counted: they are queued, or the pool keeps them out of its quota.

Why: Quota promises every GPU of a pool to runs. A GPU that a notebook takes is missing on its node. So a run of
 whole nodes is admitted, and its last pod stays Pending.
Fix: add the label kueue.x-k8s.io/queue-name, or lower the quotas and waive this.
Source: kubernetes-sigs/kueue v0.19.2 site/content/en/docs/tasks/run; docs/queueing.md
"""

from collections.abc import Iterator

from trainyard.checks import (
    QUEUE_LABEL,
    Manifest,
    Place,
    Pods,
    Problem,
    Severity,
    TrainingJob,
    World,
    all_workloads,
    is_gpu,
    selected_pools,
)

SEVERITY = Severity.WARNING
VOLCANO = "volcano"


def check(world: World) -> Iterator[Problem]:
    """Look at everything with GPUs on a described cluster; what Volcano places has queues of its own."""
    if world.inventory is None or not world.inventory.queues:
        return
    for job in (*all_workloads(world), *world.scheduled()):
        volcano = job.carrier.operator == VOLCANO or job.manifest.get("spec", "schedulerName") == VOLCANO
        if job.queue_name or queued_itself(job) or job.carrier.idle or job.carrier.makes or volcano:
            continue
        holder = job.manifest.outer
        whole = f" to the {holder.kind}" if holder is not job.manifest else ""
        whole = " to its jobTemplate" if job.is_scheduled else whole
        for pods in job.pod_sets():
            if pods.spec.get("schedulerName") == VOLCANO or labelled(pods) or not (pods.count or may_grow(pods)):
                continue
            for limit in pods.limits(init=False):
                if is_gpu(limit.resource) and limit.quantity.amount > 0:
                    message = (
                        f"{job.manifest.kind} {job.name!r} takes {limit.resource} past the queues"
                        f", which promise all GPUs to runs; add {QUEUE_LABEL}{whole}"
                    )
                    yield Problem(limit.place, message)
                    break
    yield from check_services(world)


def check_services(world: World) -> Iterator[Problem]:
    """Look at services of NVIDIA NIM, whose pods Kueue does not count; quotas leave room for those of field `nim`."""
    cluster = world.inventory
    nim = cluster.nim if cluster else None
    ours = (
        {(f"nim-{cluster.namespace_of(said.team)}", name) for name, said in nim.services.items()}
        if cluster and nim
        else set()
    )
    for kind, pattern in (("NIMService", ("spec",)), ("NIMPipeline", ("spec", "services", "*", "spec"))):
        for service in world.of(kind, group="apps.nvidia.com"):
            if (service.namespace, service.name) not in ours:
                yield from check_service(world, service, pattern)


def check_service(world: World, service: Manifest, pattern: tuple[str, ...]) -> Iterator[Problem]:
    """Yield each service of an object with GPUs on nodes that a quota has."""
    for path, spec in service.at(*pattern, of=dict):
        limits = service.get(*path, "resources", "limits")
        taken = sorted(filter(is_gpu, limits)) if isinstance(limits, dict) else []
        if taken and not outside_quota(world, spec):
            message = f"{service.kind} {service.name!r} takes {taken[0]} past the queues; keep its nodes out of quota"
            yield Problem(Place(service, (*path, "resources", "limits", taken[0])), message)


def outside_quota(world: World, spec: dict[str, object]) -> bool:
    """Whether all pools that a service selects are in no quota."""
    cluster = world.inventory
    chosen = selected_pools(spec, world.selectors)
    owners = [*cluster.queues.values(), *cluster.cohorts.values()] if cluster else []
    return bool(chosen) and not any(pool in owner.nominal_quota for owner in owners for pool in chosen)


def may_grow(pods: Pods) -> bool:
    """Whether Ray's autoscaler may add such pods, of which there are none at first."""
    cluster, group = pods.manifest.get(*pods.template[:-3]), pods.manifest.get(*pods.template[:-1])
    if not isinstance(cluster, dict) or not isinstance(group, dict) or "groupName" not in group:
        return False
    return cluster.get("enableInTreeAutoscaling") is True and group.get("maxReplicas") != 0


def queued_itself(job: TrainingJob) -> bool:
    """Whether an object waits in a queue of its own: Kueue looks at what an AppWrapper without a queue holds."""
    return QUEUE_LABEL in job.manifest.labels


def labelled(pods: Pods) -> bool:
    """Whether the pods themselves are queued."""
    labels = pods.manifest.get(*pods.template, "metadata", "labels")
    return isinstance(labels, dict) and QUEUE_LABEL in labels
