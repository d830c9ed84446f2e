"""A job that MultiKueue should run is in a queue that sends jobs elsewhere.

Why: With managedBy: kueue.x-k8s.io/multikueue no controller of this cluster makes pods. Without a check of
 MultiKueue in its queue nothing sends the job to another cluster, so it never runs.
Fix: remove managedBy, which Kueue sets itself where it is needed, or name a queue with a check of MultiKueue.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/defaults.go ApplyDefaultForManagedBy; site docs
 tasks/run/multikueue
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Queues, World

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
FIELDS = (("spec", "managedBy"), ("spec", "runPolicy", "managedBy"))
NAMES = (
    ("spec", "admissionChecksStrategy", "admissionChecks", "*", "name"),
    ("spec", "admissionChecks", "*"),
)
"""Where a ClusterQueue names its checks; the last one is a field of v1beta1."""


def check(world: World) -> Iterator[Problem]:
    """Look at jobs that are left to MultiKueue, where their queue and all its checks are known, or they have none."""
    queues = Queues(world)
    checks = {
        item.name: item.text("spec", "controllerName") for item in world.of("AdmissionCheck", group="kueue.x-k8s.io")
    }
    every = {id(job.manifest): job for job in (*world.all_jobs(), *world.queued())}
    for job in every.values():
        path = next((path for path in FIELDS if job.manifest.get(*path) == MULTIKUEUE), None)
        if path is None or world.renders(job):
            continue  # `run/tenant-controller` lets no run name another controller
        queue = queues.of(job)
        names = [name for pattern in NAMES for _, name in queue.at(*pattern, of=str)] if queue else []
        if queue is None and job.queue_name:
            continue
        if any(checks.get(name, MULTIKUEUE) == MULTIKUEUE for name in names):
            continue
        where = f"queue {queue.name!r} has no check of MultiKueue" if queue else "it is in no queue"
        yield Problem(
            Place(job.manifest, path), f"no controller runs the {job.manifest.kind}, since {where}; remove managedBy"
        )
