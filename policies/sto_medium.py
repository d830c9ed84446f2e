"""An emptyDir is on a medium that the kubelet knows.

Why: the server takes any word, but the kubelet cannot set the volume up, and the pod stays in ContainerCreating.
Fix: write Memory, HugePages, or no medium.
Source: kubernetes v1.35 pkg/volume/emptydir/empty_dir.go SetUpAt: unknown storage medium
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, did_you_mean

MEDIA = ("", "Memory", "HugePages")
SIZED = "HugePages-"
"""What a medium of pages of one size begins with."""


def check(world: World) -> Iterator[Problem]:
    """Look at the volumes of whatever makes pods."""
    for job in world.workloads():
        for pods in job.pod_sets():
            at = (*pods.template, "spec", "volumes", "*", "emptyDir", "medium")
            for path, medium in pods.manifest.at(*at, of=str):
                if medium not in MEDIA and not medium.startswith(SIZED):
                    near = next((item for item in MEDIA if item.lower() == medium.lower()), "")
                    hint = f"did you mean {near!r}?" if near else did_you_mean(medium, MEDIA[1:])
                    place = pods.place(*path[len(pods.template) :])
                    yield Problem(place, f"the kubelet knows no medium {medium!r}; {hint}")
