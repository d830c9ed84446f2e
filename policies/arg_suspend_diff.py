"""A queued job that Argo CD applies does not say suspend itself.

Why: Kueue clears suspend when it admits the job. Argo CD heals that difference to Git and suspends the job again: it
 starts and stops for ever.
Fix: remove suspend; Kueue's webhook sets it on a new job.
Source: argoproj/argo-cd v3.5.1 docs/user-guide/auto_sync.md (selfHeal), docs/user-guide/diffing.md; kueue v0.19.2
 pkg/controller/jobframework/base_webhook.go, reconciler.go
"""

from collections.abc import Iterator

from trainyard.checks import RUN_LABEL, Place, Problem, World

NEEDS = {"inventory"}


def check(world: World) -> Iterator[Problem]:
    """Look at queued jobs of one's own: of runs the Applications ignore the field, and heal nothing."""
    for job in world.queued():
        path = job.carrier.suspend
        if path is None or not job.queue_name or RUN_LABEL in job.manifest.labels or job.manifest.holder is not None:
            continue
        if job.manifest.get(*path) is True:
            message = "suspend is true in Git, so Argo CD stops the job each time that Kueue starts it; remove it"
            yield Problem(Place(job.manifest, path), message)
