"""The queue label must be on the object that Kueue queues, and the topology on its pods.

Why: Kueue ignores an annotation of that name, and a label on the object's pods. The job then starts at once, without
 any quota. Of the topology it reads the annotations of pod templates alone, so pods are spread over racks.
Fix: write kueue.x-k8s.io/queue-name under metadata.labels of the object, and podset-…-topology under
 metadata.annotations of the pod template.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/utils.go QueueNameForObject, tas.go
 NewPodSetTopologyRequest
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Problem, TrainingJob, World

TOPOLOGY = "kueue.x-k8s.io/podset-"
"""How annotations of pods begin that ask for a topology."""

QUEUED_PODS = {"Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"}
"""Kinds whose pods Kueue queues."""


def check(world: World) -> Iterator[Problem]:
    """Check the annotations and the pods of training jobs without the label."""
    for job in world.all_jobs():
        if job.queue_name is None:
            yield from misplaced_queues(job)
            if job.is_scheduled and (name := job.manifest.outer.labels.get(QUEUE_LABEL)):
                message = (
                    f"queue {name!r} is a label of the CronJob, which Kueue ignores; move it to jobTemplate.metadata"
                )
                yield Problem(Place(job.manifest.outer, ("metadata", "labels", QUEUE_LABEL)), message)
        elif job.manifest.kind != "Pod" and job.carrier.framework:
            yield from misplaced_topology(job)
    for manifest in world.of("Job", group="batch.volcano.sh"):
        if QUEUE_LABEL in manifest.labels:
            name = manifest.labels[QUEUE_LABEL]
            message = f"queue {name!r} is Kueue's, which queues no Jobs of Volcano; write spec.queue"
            yield Problem(Place(manifest, ("metadata", "labels", QUEUE_LABEL)), message)


def misplaced_topology(job: TrainingJob) -> Iterator[Problem]:
    """Yield the annotations of an object by which its pods were meant to be placed, and none of them is."""
    if any(key.startswith(TOPOLOGY) for pods in job.pod_sets() for key in pods.annotations):
        return
    for key in job.manifest.annotations:
        if key.startswith(TOPOLOGY):
            message = f"{key.partition('/')[2]} is an annotation of the {job.manifest.kind}, which Kueue ignores"
            yield Problem(
                Place(job.manifest, ("metadata", "annotations", key), key=True), f"{message}; move it to the pods"
            )
            return


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
            to = "jobTemplate.metadata" if job.is_scheduled else f"the {job.manifest.outer.kind}"
            message = f"queue {name!r} is a label of the pods, which Kueue ignores; move it to {to}"
            yield Problem(Place(pods.manifest, path), message)
