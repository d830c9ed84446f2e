"""A RayJob says how often it may start again.

Why: unless it says so, never: when the head's node is drained, or the driver fails once, the whole run has failed.
Fix: write backoffLimit, 0 where no second attempt is wanted.
Source: ray-project/kuberay v1.6.2 ray-operator/apis/ray/v1/rayjob_types.go BackoffLimit
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at RayJobs that make their own cluster; for others KubeRay takes no limit."""
    for job in world.of("RayJob", group="ray.io"):
        spec = job.get("spec")
        if not isinstance(spec, dict) or spec.get("clusterSelector") or spec.get("submissionMode") == "InteractiveMode":
            continue
        if spec.get("backoffLimit") is None:
            yield Problem(
                Place(job, ("spec",), key=True), "backoffLimit is not set, so that nothing is tried again; set it"
            )
