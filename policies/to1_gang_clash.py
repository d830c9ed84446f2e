"""A PodGroup must not wait for more pods than there are, or than Kueue admits.

Why: The scheduler binds no pod of the group until minMember of them have a node. So none ever starts, and the quota
 stays in use.
Fix: set minMember, or minAvailable, to the number of pods; if Kueue may admit fewer (job-min-parallelism), to that.
Source: kubernetes-sigs/scheduler-plugins v0.34.7 pkg/coscheduling/core/core.go PreFilter, Permit;
 kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/job/job_controller.go JobMinParallelismAnnotation;
 training-operator v1.9.4 pkg/controller.v1/common/job.go ReconcileJobs
"""

from collections import defaultdict
from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, whole_number

GROUP = "scheduling.x-k8s.io"
LABEL = f"{GROUP}/pod-group"
FEWEST = "kueue.x-k8s.io/job-min-parallelism"
OF_OPERATOR = ("spec", "runPolicy", "schedulingPolicy", "minAvailable")
"""What the training operator writes into the group that it makes, where a scheduler of gangs is configured."""


def check(world: World) -> Iterator[Problem]:
    """Count the pods of every group; a group without pods among the objects is not checked."""
    pods: dict[tuple[str, str], int] = defaultdict(int)
    for job in world.training_jobs():
        fewest = whole_number(job.manifest.annotations.get(FEWEST, "")) if job.queue_name else None
        for pod_set in job.pod_sets():
            labels = job.manifest.get(*pod_set.template, "metadata", "labels")
            name = labels.get(LABEL) if isinstance(labels, dict) else None
            if isinstance(name, str):
                count = min(pod_set.count, fewest) if fewest else pod_set.count
                pods[job.namespace, name] += count
    for group in world.of("PodGroup", group=GROUP):
        there = pods.get((group.namespace or "default", group.name))
        wanted = group.get("spec", "minMember")
        if there is not None and isinstance(wanted, int) and wanted > there:
            pods_text = f"{there} pod{'' if there == 1 else 's'}"
            message = f"minMember is {wanted}, but group {group.name!r} may have as few as {pods_text}; use {there}"
            yield Problem(Place(group, ("spec", "minMember")), message)
    yield from made_by_operator(world)


def made_by_operator(world: World) -> Iterator[Problem]:
    """Yield jobs of Kubeflow whose group would wait for more pods than they have."""
    for job in world.training_jobs():
        wanted = job.manifest.get(*OF_OPERATOR) if job.manifest.group == "kubeflow.org" else None
        there = sum(pods.count for pods in job.pod_sets())
        if type(wanted) is int and wanted > there > 0:
            message = f"minAvailable is {wanted}, but the job has {there} pods, so a scheduler of gangs starts none"
            yield Problem(Place(job.manifest, OF_OPERATOR), f"{message}; use {there}", severity=Severity.WARNING)
