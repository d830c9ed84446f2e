"""A job with GPUs must save into a volume.

Why: A folder without a volume is part of the container, so checkpoints are lost with the pod.
Fix: mount a volume there, or save into a folder on one.
Source: kubernetes/website v1.35 content/en/docs/concepts/storage/volumes.md; platform/trainyard/upstream/trainers
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import MOVES, Problem, Severity, World, arguments, is_gpu, unheld

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at the folders that the options of usual trainers name; `run/unmounted` does where the job is ours."""
    for job in world.training_jobs() if world.inventory is None else ():
        for pods in job.pod_sets():
            containers = dict(pods.containers(init=False)) if any(map(is_gpu, pods.needs)) else {}
            for path, options in arguments(pods):
                container = containers.get(path)
                if container is None or moves(container):
                    continue
                for place, option, folder in unheld(options, mounts(container)):
                    message = f"{option} saves into {folder!r}, which is on no volume and lost with the pod"
                    yield Problem(place, f"{message}; mount one")


def mounts(container: Mapping[str, Any]) -> list[str]:
    """Return the folders that a container's volumes are mounted at."""
    found = container.get("volumeMounts")
    mounts = [mount.get("mountPath") for mount in found if isinstance(mount, dict)] if isinstance(found, list) else []
    return [path for path in mounts if isinstance(path, str)]


def moves(container: Mapping[str, Any]) -> bool:
    """Say whether a container's command line may bring files elsewhere."""
    return any(MOVES.search(str(container.get(field, ""))) for field in ("command", "args"))
