"""Two jobs save into folders of their own.

Why: Each overwrites the other's checkpoints, or deletes them as too old. Whichever starts again goes on from the
 other's state, or fails at files of another model.
Fix: give each job a folder, or a subPath, with its name.
Source: docs/storage.md; pytorch v2.9 torch/distributed/checkpoint/filesystem.py: files are named by rank
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.checks import (
    Place,
    Pods,
    Problem,
    Severity,
    TrainingJob,
    World,
    arguments,
    held_by,
    is_gpu,
    maps_in,
    mounts,
    unheld,
)

SEVERITY = Severity.WARNING


class Saved(NamedTuple):
    """A folder of a claim into which a job saves."""

    claim: str
    folder: str
    option: str
    place: Place


def check(world: World) -> Iterator[Problem]:
    """Compare the jobs of one file, and of a cluster of ours all of a namespace that are no runs."""
    first: dict[tuple[str, str, str, str], TrainingJob] = {}
    for job in world.training_jobs():
        if world.renders(job):
            continue
        file = "" if world.inventory is not None else job.place().location.file
        for found in {(one.claim, one.folder): one for one in saved(job)}.values():
            other = first.setdefault((file, job.namespace, found.claim, found.folder), job)
            if other is not job:
                who = f"{other.manifest.kind} {other.name!r}"
                message = f"{found.option} saves where {who} does, in {found.folder!r} of claim {found.claim!r}"
                yield Problem(found.place, f"{message}; use another folder")


def saved(job: TrainingJob) -> Iterator[Saved]:
    """Yield the folders that the options of usual trainers name, in pods with GPUs."""
    for pods in job.pod_sets():
        containers = dict(pods.containers(init=False)) if any(map(is_gpu, pods.needs)) else {}
        claims = claims_of(pods)
        for path, options in arguments(pods):
            container = containers.get(path, {})
            for place, option, folder in unheld(options, ()):
                claim = claims.get(held_by(folder, mounts(container)) or "")
                where = within(container, folder)
                if claim is not None and where is not None:
                    yield Saved(claim, where, option, place)


def claims_of(pods: Pods) -> Mapping[str, str]:
    """Return the claims of pods by the names of their volumes."""
    found: dict[str, str] = {}
    for volume in maps_in(pods.spec.get("volumes")):
        claim = volume.get("persistentVolumeClaim")
        if isinstance(claim, dict) and isinstance(claim.get("claimName"), str):
            found[str(volume.get("name"))] = claim["claimName"]
    return found


def within(container: Mapping[str, Any], folder: str) -> str | None:
    """Return where a folder is in the volume that holds it; None where a variable is part of the way."""
    around = [
        mount
        for mount in maps_in(container.get("volumeMounts"))
        if f"{folder}/".startswith(f"{str(mount.get('mountPath')).rstrip('/')}/")
    ]
    inner = max(around, key=lambda mount: len(str(mount.get("mountPath"))), default=None)
    if inner is None or inner.get("subPathExpr"):
        return None
    below = folder.removeprefix(str(inner.get("mountPath")).rstrip("/")).strip("/")
    parts = [str(inner.get("subPath") or "").strip("/"), below]
    return "/".join(part for part in parts if part) or "/"
