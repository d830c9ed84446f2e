"""A RayJob must set backoffLimit.

Why: Without it KubeRay never retries. If the head's node is drained or the driver fails once, the whole job fails.
Fix: set backoffLimit; write 0 if the job must not be retried.
Source: ray-project/kuberay v1.6.2 ray-operator/apis/ray/v1/rayjob_types.go BackoffLimit
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Check RayJobs that create their own cluster; KubeRay accepts no limit for others."""
    for job in world.of("RayJob", group="ray.io"):
        spec = job.get("spec")
        if not isinstance(spec, dict) or spec.get("clusterSelector") or spec.get("submissionMode") == "InteractiveMode":
            continue
        if spec.get("backoffLimit") is None:
            yield Problem(
                Place(job, ("spec",), key=True),
                "backoffLimit is not set, so KubeRay never retries the job; set it, to 0 if that is intended",
            )
