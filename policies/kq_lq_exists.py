"""A job's queue must exist in its namespace.

Why: Otherwise Kueue keeps the workload pending forever, with reason Misconfigured and without an event on the job.
Fix: create the LocalQueue in the namespace, or name one that exists there.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/core/workload_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Problem, Severity, World, did_you_mean

SEVERITY = Severity.ERROR
NEEDS = {"cluster"}


def check(world: World) -> Iterator[Problem]:
    """Look up every queue label among the LocalQueues of its namespace."""
    for job in world.queued():
        if job.queue_name is None:
            continue
        queues = {queue.name for queue in world.of("LocalQueue", namespace=job.namespace)}
        if job.queue_name not in queues:
            yield Problem(
                job.label(QUEUE_LABEL),
                f"queue {job.queue_name!r} does not exist in namespace {job.namespace!r}"
                f"; {did_you_mean(job.queue_name, queues)}",
            )
