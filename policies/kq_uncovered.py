"""A queue covers every resource that its jobs ask for.

Why: Kueue never admits a job that asks for a resource in none of the queue's resource groups, and a strict queue
 stands still behind it.
Fix: add the resource to coveredResources with a quota, or do not ask for it.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go findFlavorForPodSets
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Queues, TrainingJob, World, is_gpu, is_rdma


def check(world: World) -> Iterator[Problem]:
    """Compare what pods ask for with what their queue covers, where the queue is among the objects.

    A device of another name may belong to a DeviceClass that is elsewhere, where the cluster is not known.
    """
    queues = Queues(world)
    claimed = {device_class.text("spec", "extendedResourceName") for device_class in world.of("DeviceClass")}
    for job in () if queues.settings.ignores_undeclared else world.training_jobs():
        queue = queues.of(job)
        if queue is None:
            continue
        covered = queues.covered(queue)
        for resource, place in asked_resources(job).items():
            if resource in covered or resource in claimed or queues.settings.leaves_out(resource):
                continue
            if world.inventory or "/" not in resource or is_gpu(resource) or is_rdma(resource):
                yield Problem(place, f"queue {queue.name!r} covers no {resource!r}, so the job is never admitted")


def asked_resources(job: TrainingJob) -> dict[str, Place]:
    """Return every resource that a job asks for more than nothing of, with a place that says so."""
    found: dict[str, Place] = {}
    for pods in job.pod_sets():
        for resource, need in pods.needs.items() if pods.count else ():
            if need.amount:
                found.setdefault(resource, need.place)
    return found
