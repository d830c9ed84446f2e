"""The queue label must be on the object that Kueue queues.

Why: Kueue ignores an annotation of that name, and a label on the object's pods. The job then starts at once, without
 any quota.
Fix: write kueue.x-k8s.io/queue-name under metadata.labels of the object.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/utils.go QueueNameForObject
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Problem, TrainingJob, World

QUEUED_PODS = {"Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"}
"""Kinds whose pods Kueue queues."""


def check(world: World) -> Iterator[Problem]:
    """Check the annotations and the pods of training jobs without the label."""
    for job in world.training_jobs():
        if job.queue_name is None:
            yield from misplaced_queues(job)


def misplaced_queues(job: TrainingJob) -> Iterator[Problem]:
    """Yield the places where Kueue does not see the queue; labels in a runtime belong to the runtime."""
    path = ("metadata", "annotations", QUEUE_LABEL)
    if isinstance(name := job.manifest.get(*path), str):
        message = f"queue {name!r} is in an annotation, which Kueue ignores; make it a label"
        yield Problem(Place(job.manifest, path), message)
    if job.manifest.kind in QUEUED_PODS:
        return
    for pods in job.pod_sets():
        path = (*pods.template, "metadata", "labels", QUEUE_LABEL)
        if isinstance(name := pods.manifest.get(*path), str):
            message = (
                f"queue {name!r} is a label of the pods, which Kueue ignores; move it to the {job.manifest.outer.kind}"
            )
            yield Problem(Place(pods.manifest, path), message)
