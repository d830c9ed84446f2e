"""The queue's label stands on the object that Kueue queues.

Why: Kueue reads the label of the object alone; an annotation of that name, or a label on its pods, is passed over, and
 the job starts past every quota.
Fix: write kueue.x-k8s.io/queue-name below metadata.labels of the object.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/utils.go QueueNameForObject
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Problem, TrainingJob, World

SERVED = {"Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"}
"""Kinds of which Kueue queues the pods."""


def check(world: World) -> Iterator[Problem]:
    """Look at the annotations and the pods of whatever trains and has no such label."""
    for job in world.training_jobs():
        if job.queue_name is None:
            yield from elsewhere(job)


def elsewhere(job: TrainingJob) -> Iterator[Problem]:
    """Yield the places where the queue is named in vain; what a runtime's pods say is the runtime's."""
    path = ("metadata", "annotations", QUEUE_LABEL)
    if isinstance(name := job.manifest.get(*path), str):
        message = f"queue {name!r} is named by an annotation, which Kueue does not read; make it a label"
        yield Problem(Place(job.manifest, path), message)
    if job.manifest.kind in SERVED:
        return
    for pods in job.pod_sets():
        path = (*pods.template, "metadata", "labels", QUEUE_LABEL)
        if isinstance(name := pods.manifest.get(*path), str):
            message = (
                f"queue {name!r} is named on the pods, where Kueue does not look; label the {job.manifest.outer.kind}"
            )
            yield Problem(Place(pods.manifest, path), message)
