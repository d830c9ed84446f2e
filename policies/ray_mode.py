"""A RayJob is submitted in a way that KubeRay knows.

Why: The API server takes any text. With another one KubeRay starts the Ray cluster and submits nothing. The RayJob
 stays Running, and holds its quota for ever.
Fix: write K8sJobMode, HTTPMode, SidecarMode or InteractiveMode, or remove the field.
Source: kuberay v1.6.2 ray-operator/controllers/ray/rayjob_controller.go, ray-operator/apis/ray/v1/rayjob_types.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World, did_you_mean

MODES = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")


def check(world: World) -> Iterator[Problem]:
    """Look at submissionMode, whose values the CRD does not list."""
    for job in world.of("RayJob", group="ray.io"):
        for path, mode in job.at("spec", "submissionMode", of=str):
            if mode and mode not in MODES:
                message = f"submissionMode is {mode!r}, so nothing submits the job; {did_you_mean(mode, MODES)}"
                yield Problem(Place(job, path), message)
