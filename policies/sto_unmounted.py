"""A job with GPUs must save into a volume that outlives its pods.

Why: A folder without a volume is part of the container, and an emptyDir part of the pod: checkpoints are lost with it.
Fix: mount a claim there, or save into a folder on one.
Source: kubernetes/website v1.35 content/en/docs/concepts/storage/volumes.md; platform/trainyard/upstream/trainers
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import (
    MOVES,
    Place,
    Pods,
    Problem,
    Severity,
    World,
    arguments,
    held_by,
    is_gpu,
    maps_in,
    mounts,
    unheld,
)

SEVERITY = Severity.WARNING

FLEETING = {"emptyDir", "ephemeral"}
"""Volumes that end with their pod; where another container mounts one too, it may bring files elsewhere."""


def check(world: World) -> Iterator[Problem]:
    """Look at the folders that the options of usual trainers name; `run/unmounted` does where the job is ours."""
    for job in world.training_jobs():
        if world.renders(job):
            continue
        for pods in job.pod_sets():
            containers = dict(pods.containers(init=False)) if any(map(is_gpu, pods.needs)) else {}
            for path, options in arguments(pods):
                container = containers.get(path)
                if container is not None and not moves(container):
                    yield from lost(pods, container, options)


def lost(pods: Pods, container: Mapping[str, Any], options: Mapping[str, tuple[Place, str]]) -> Iterator[Problem]:
    """Yield the folders into which a container saves what ends with its pod."""
    mounted = mounts(container)
    shared = {name for _, other in pods.containers() if other is not container for name in mounts(other).values()}
    fleeting = {volume.get("name") for volume in maps_in(pods.spec.get("volumes")) if FLEETING & volume.keys()}
    for place, option, folder in unheld(options, ()):
        held = held_by(folder, mounted)
        if held is None or held in fleeting - shared:
            where = "no volume" if held is None else f"volume {held!r} of this pod"
            message = f"{option} saves into {folder!r}, which is on {where} and lost with the pod; mount a claim"
            yield Problem(place, message)


def moves(container: Mapping[str, Any]) -> bool:
    """Say whether a container's command line may bring files elsewhere."""
    return any(MOVES.search(str(container.get(field, ""))) for field in ("command", "args"))
