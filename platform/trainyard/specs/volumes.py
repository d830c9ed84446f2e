"""What a job mounts: volumes that its team has on the cluster, fit for as many pods, each at a path of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding, did_you_mean
from trainyard.specs import room
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import Team
from trainyard.specs.sources import JobFile


def mounts(file: JobFile) -> Iterator[Finding]:
    """Yield two mounts at one path, and files that would have one name in the container."""
    taken = {"/dev/shm": "shared memory"}  # noqa: S108 - a path in the pod
    if file.job.scratch:
        taken["/scratch"] = "scratch"
    for path, place in targets(file):
        target = path.rstrip("/")
        if not target:
            yield file.problem("mount-path", place, "mountPath is '/', which would hide the image; choose a folder")
        elif target in taken:
            message = f"path {target!r} is mounted already, by {taken[target]}; choose another"
            yield file.problem("mount-path", place, message)
        taken.setdefault(target, str(place[0]))


def targets(file: JobFile) -> Iterator[tuple[str, Path]]:
    """Yield every path that the job mounts something at, with its field."""
    job = file.job
    if job.checkpoint:
        yield job.checkpoint.mount_path, ("checkpoint", "mountPath")
    for index, data in enumerate(job.data):
        yield data.mount_path, ("data", index, "mountPath")
    for index, each in enumerate(job.files):
        yield f"{each.mount_path.rstrip('/')}/{each.source.rpartition('/')[2]}", ("files", index, "source")


def check(file: JobFile, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield volumes that do not exist on the cluster, and access modes that do not fit the number of pods."""
    job = file.job
    if job.checkpoint is not None:
        yield from volume(file, team, cluster, job.checkpoint.volume, ("checkpoint", "volume"), writes=True)
    for index, data in enumerate(job.data):
        yield from volume(file, team, cluster, data.volume, ("data", index, "volume"), writes=not data.read_only)


def volume(file: JobFile, team: Team, cluster: Cluster, name: str, place: Path, *, writes: bool) -> Iterator[Finding]:
    """Yield what is wrong with one volume."""
    claim, where = team.volumes.get(name), file.job.cluster
    if claim is None:
        hint = did_you_mean(name, team.volumes)
        yield file.problem("unknown-volume", place, f"volume {name!r} does not exist in team {file.team!r}; {hint}")
        return
    storage = cluster.storage.get(claim.storage)
    if storage is None or (claim.clusters and where not in claim.clusters):
        known = (key for key, each in team.volumes.items() if each.storage in cluster.storage)
        here = sorted(key for key in known if where in (team.volumes[key].clusters or (where,)))
        message = f"volume {name!r} is not on cluster {where!r}; volumes there: {', '.join(here) or 'none'}"
        yield file.problem("volume-cluster", place, message)
    elif storage.access == "ReadWriteOnce" and room.pods(file.job) > 1:
        pods = room.pods(file.job)
        message = f"volume {name!r} is ReadWriteOnce, but the job has {pods} pods; use a ReadWriteMany volume"
        yield file.problem("volume-access", place, message)
    elif storage.access == "ReadOnlyMany" and writes:
        message = f"volume {name!r} is ReadOnlyMany, but the job writes to it; use another volume"
        yield file.problem("volume-access", place, message)
