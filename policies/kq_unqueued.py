"""Pods with GPUs beside the runs are counted: they are queued, or the pool keeps them out of its quota.

Why: Quota promises every GPU of a pool to runs. A GPU that a notebook takes is missing on its node. So a run of
 whole nodes is admitted, and its last pod stays Pending.
Fix: add the label kueue.x-k8s.io/queue-name, or lower the quotas and waive this.
Source: kubernetes-sigs/kueue v0.19.2 site/content/en/docs/tasks/run; docs/queueing.md
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Pods, Problem, Severity, TrainingJob, World, all_workloads, is_gpu

SEVERITY = Severity.WARNING
VOLCANO = "volcano"


def check(world: World) -> Iterator[Problem]:
    """Look at everything with GPUs on a described cluster; what Volcano places has queues of its own."""
    if world.inventory is None or not world.inventory.queues:
        return
    for job in all_workloads(world):
        volcano = job.carrier.operator == VOLCANO or job.manifest.get("spec", "schedulerName") == VOLCANO
        if job.queue_name or queued_itself(job) or job.carrier.idle or job.carrier.makes or volcano:
            continue
        holder = job.manifest.outer
        whole = f" to the {holder.kind}" if holder is not job.manifest else ""
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
    """Look at services of NVIDIA NIM, whose pods Kueue does not count."""
    for service in world.of("NIMService", group="apps.nvidia.com"):
        limits = service.get("spec", "resources", "limits")
        taken = sorted(filter(is_gpu, limits)) if isinstance(limits, dict) else []
        if taken:
            message = f"NIMService {service.name!r} takes {taken[0]} past the queues; keep its nodes out of quota"
            yield Problem(Place(service, ("spec", "resources", "limits", taken[0])), message)


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
