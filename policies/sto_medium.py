"""The medium of an emptyDir must be one that the kubelet supports.

Why: The API server accepts any text, but the kubelet cannot mount the volume. The pod stays in ContainerCreating.
Fix: write Memory or HugePages, or remove medium.
Source: kubernetes v1.35 pkg/volume/emptydir/empty_dir.go SetUpAt: unknown storage medium
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, did_you_mean

MEDIA = ("", "Memory", "HugePages")
SIZED = "HugePages-"
"""The prefix of a medium with pages of one size."""


def check(world: World) -> Iterator[Problem]:
    """Check the volumes of every object that creates pods."""
    for job in world.workloads():
        for pods in job.pod_sets():
            at = (*pods.template, "spec", "volumes", "*", "emptyDir", "medium")
            for path, medium in pods.manifest.at(*at, of=str):
                if medium not in MEDIA and not medium.startswith(SIZED):
                    near = next((item for item in MEDIA if item.lower() == medium.lower()), "")
                    hint = f"did you mean {near!r}?" if near else did_you_mean(medium, MEDIA[1:])
                    place = pods.place(*path[len(pods.template) :])
                    yield Problem(place, f"medium is {medium!r}, which the kubelet does not support; {hint}")
