"""A PodGroup must not wait for more pods than there are, or than Kueue admits.

Why: The scheduler binds no pod of the group until minMember of them have a node. So none ever starts, and the quota
 stays in use.
Fix: set minMember to the number of pods; if Kueue may admit fewer (job-min-parallelism), to that number.
Source: kubernetes-sigs/scheduler-plugins v0.34.7 pkg/coscheduling/core/core.go PreFilter, Permit;
 kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/job/job_controller.go JobMinParallelismAnnotation
"""

from collections import defaultdict
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, whole_number

GROUP = "scheduling.x-k8s.io"
LABEL = f"{GROUP}/pod-group"
FEWEST = "kueue.x-k8s.io/job-min-parallelism"


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
