"""A job that is suspended has a queue that starts it.

Why: Kueue clears suspend when a queue admits the job. Without a queue label nothing does, so no pod is ever made.
Fix: add the label kueue.x-k8s.io/queue-name, or remove suspend.
Source: kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go JobSpec.suspend; kueue v0.19.2
 pkg/controller/jobframework/reconciler.go
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at suspended jobs that no queue may start, and that no other object holds."""
    for job in world.training_jobs():
        path = job.carrier.suspend
        if path is None or job.queue_name or job.manifest.holder is not None or is_made(job.manifest.value):
            continue
        if job.manifest.get(*path) is True:
            message = f"suspend is true, but the {job.manifest.kind} has no queue that would start it; remove it"
            yield Problem(Place(job.manifest, path), message)


def is_made(value: Mapping[str, Any]) -> bool:
    """Whether another object made this one and may start it, or it was read from a server."""
    metadata = value.get("metadata")
    made = isinstance(metadata, dict) and ("ownerReferences" in metadata or "uid" in metadata)
    return made or "status" in value
