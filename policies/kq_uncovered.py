"""A queue must cover every resource that its jobs request.

Why: Kueue never admits a job that requests a resource outside the queue's coveredResources. In a StrictFIFO queue every
 job behind it waits too.
Fix: add the resource to coveredResources with a quota, or remove the request.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go findFlavorForPodSets
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Queues, TrainingJob, World, is_gpu, is_rdma


def check(world: World) -> Iterator[Problem]:
    """Compare the requests of pods with the resources that their queue covers, if the queue is among the objects.

    If the cluster is unknown, a device of another name may belong to a DeviceClass that is not among the objects.
    """
    queues = Queues(world)
    claimed = {device_class.text("spec", "extendedResourceName") for device_class in world.of("DeviceClass")}
    for job in () if queues.settings.ignores_undeclared else world.all_jobs():
        queue = queues.of(job)
        if queue is None:
            continue
        covered = queues.covered(queue)
        for resource, place in requested_resources(job).items():
            if resource in covered or resource in claimed or queues.settings.leaves_out(resource):
                continue
            if world.inventory or "/" not in resource or is_gpu(resource) or is_rdma(resource):
                yield Problem(
                    place,
                    f"queue {queue.name!r} does not cover {resource!r}, so Kueue never admits the job"
                    "; remove the request or add quota",
                )


def requested_resources(job: TrainingJob) -> dict[str, Place]:
    """Return every resource that a job requests, with a place that requests it."""
    found: dict[str, Place] = {}
    for pods in job.pod_sets():
        for resource, need in pods.needs.items() if pods.count else ():
            if need.amount:
                found.setdefault(resource, need.place)
    return found
