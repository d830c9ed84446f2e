"""A JobSet has at least one job.

Why: A JobSet completes when one of its jobs succeeds. Without any it never ends, and its queue counts it as running.
Fix: set replicas of a replicated job to 1 or more; to hold the JobSet back, set suspend.
Source: jobset v0.12.0 pkg/controllers/jobset_controller.go reconcile, success_policy.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, mapping

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at JobSets all of whose replicated jobs have no replicas, or that have no replicated jobs."""
    for job in world.training_jobs():
        if job.manifest.kind != "JobSet" or job.manifest.group != "jobset.x-k8s.io":
            continue
        parts = job.manifest.get("spec", "replicatedJobs")
        if not isinstance(parts, list) or not parts or not all(is_empty(part) for part in parts):
            continue
        message = "replicas is 0, so the JobSet makes no pods and never ends; use 1 or more"
        yield Problem(Place(job.manifest, ("spec", "replicatedJobs", 0, "replicas")), message)


def is_empty(part: object) -> bool:
    """Whether a replicated job makes no job; it makes one where replicas is left out."""
    return type(mapping(part).get("replicas")) is int and mapping(part)["replicas"] == 0
