"""What a job mounts: volumes that its team has on the cluster, fit for as many pods, each at a path of its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from trainyard.documents import Path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.kinds import kinds
from trainyard.parts.storage import LAUNCH_FOLDER
from trainyard.rules import Rule
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.run import Run
from trainyard.specs.sources import JobFile

MOUNT_PATH = Rule(
    id="spec/mount-path",
    title="Everything that a job mounts has a path of its own.",
    why="the API server refuses two mounts at one path; what is mounted over a folder hides what the image has there",
    fix="choose another mountPath",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go ValidateVolumeMounts",
)
INSIDE = Rule(
    id="spec/mount-inside",
    title="Nothing is mounted inside of what is read-only, or inside of the checkpoints.",
    why="the runtime makes the folder in the outer volume: in a read-only one it cannot, and no container starts",
    fix="choose a mountPath beside the other one; waive it where the folder is in the volume already",
    source="opencontainers/runc v1.3 libcontainer/rootfs_linux.go createMountpoint",
    severity=Severity.WARNING,
)
NO_FILE = Rule(
    id="run/no-file",
    title="What a job names in a folder of its files is one of them.",
    why="the folder holds the job's files alone and nobody can write to it: the program finds nothing there",
    fix="correct the name, or add the file to files",
    source="kubernetes v1.35 pkg/volume/configmap/configmap.go SetUpAt",
    layer="run",
    severity=Severity.WARNING,
)
UNKNOWN = Rule(
    id="spec/unknown-volume",
    title="The volumes that a job names are its team's.",
    why="pods whose claim is missing stay pending for ever",
    fix="name a volume of platform/teams/<team>.yaml, or add it there",
    source="docs/jobs.md",
)
ELSEWHERE = Rule(
    id="spec/volume-cluster",
    title="The volumes that a job names are on its cluster.",
    why="the claim is made only where the cluster has the storage, and pods whose claim is missing stay pending",
    fix="name a volume that is there, or give the cluster the storage",
    source="docs/clusters.md",
)
OWN = Rule(
    id="spec/mount-volume",
    title="What a job mounts by the name of a volume is one of its own volumes.",
    why="the API server refuses a pod that mounts a volume which it does not have",
    fix="add the volume to volumes, or mount one of the team's by data",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go ValidateVolumeMounts",
)
ACCESS = Rule(
    id="spec/volume-access",
    title="A volume can be mounted by as many pods as the job has, in the way the job uses it.",
    why="a ReadWriteOnce volume attaches to one node, so the other pods stay in ContainerCreating",
    fix="use a ReadWriteMany volume",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go PersistentVolumeAccessMode",
)

SQUASH = Rule(
    id="sto-root-squash",
    title="A job writes to volumes that the kubelet opens to pods, or to those that a server keeps, not to both.",
    why="a pod has one group for all its volumes: with it a closed folder fails the mount, without it saving fails",
    fix="keep what the job writes on one of them",
    source="kubernetes v1.35 pkg/volume/volume_linux.go",
    severity=Severity.WARNING,
)


SYSTEM = frozenset(
    f"/{each}"
    for each in (
        *("bin", "sbin", "lib", "lib64", "boot", "dev", "etc", "proc", "sys", "usr", "var", "usr/bin", "usr/sbin"),
        *("usr/lib", "usr/lib64", "usr/local", "usr/local/bin", "usr/local/lib", "usr/local/cuda", "opt/conda"),
    )
)
"""Folders with the image's programs, or the kernel's: what is mounted there hides Python, users or certificates."""

NAME = re.compile(r"[\w.-]+")
"""A file's name in an argument, without what a shell or a program would replace."""

PROC = "/proc/"
"""Where runtimes mount nothing (opencontainers/runc v1.3 libcontainer/rootfs_linux.go checkProcMount)."""


def check_mounts(file: JobFile, by_kind: Mapping[str, str]) -> Iterator[Finding]:
    """Yield two mounts at one path, and files of one name in the container; `by_kind` are its operator's."""
    taken = {"/dev/shm": "shared memory", LAUNCH_FOLDER: "the launcher", **by_kind}  # noqa: S108 - a path in the pod
    if file.job.scratch:
        taken["/scratch"] = "scratch"
    for path, place in targets(file.job):
        target = path.rstrip("/")
        if not target:
            yield MOUNT_PATH.at(file.source, place, "mountPath is '/', which would hide the image; choose a folder")
        elif target in SYSTEM or target.startswith(PROC):
            message = f"mountPath is {target!r}, a folder of the image or the kernel; choose one such as /data"
            yield MOUNT_PATH.at(file.source, place, message)
        elif target in taken:
            message = f"path {target!r} is mounted already, by {taken[target]}; choose another"
            yield MOUNT_PATH.at(file.source, place, message)
        taken.setdefault(target, str(place[0]))


def check_inside(file: JobFile) -> Iterator[Finding]:
    """Yield what is mounted inside of a read-only data set or of the checkpoints' folder."""
    job = file.job
    outer = {data.mount_path.rstrip("/"): f"read-only volume {data.volume!r}" for data in job.data if data.read_only}
    if job.checkpoint is not None:
        outer[job.checkpoint.mount_path.rstrip("/")] = "the checkpoints"
    for path, place in targets(job):
        whose = next((outer[above] for above in parents(path) if above in outer), None)
        if whose is not None and place[-1] != "source":
            message = f"mountPath {path!r} is inside of {whose}, where no folder can be made; choose another"
            yield INSIDE.at(file.source, place, message)


@lru_cache(maxsize=1024)
def parents(path: str) -> tuple[str, ...]:
    """Return the folders that a path is in, the nearest first."""
    return tuple(map(str, PurePosixPath(path).parents))


def check_files(file: JobFile) -> Iterator[Finding]:
    """Yield arguments that name a file in a folder of the job's files, which has none of that name."""
    folders: dict[str, set[str]] = {}
    for each in file.job.files:
        folders.setdefault(each.mount_path.rstrip("/"), set()).add(each.source.rpartition("/")[2])
    for field in ("command", "args") if folders else ():
        for index, word in enumerate(getattr(file.job, field) or ()):
            path = PurePosixPath(word.partition("=")[2] or word) if word.startswith("-") else PurePosixPath(word)
            there = folders.get(str(path.parent))
            if there and NAME.fullmatch(path.name) and path.name not in there:
                message = f"{path} is none of the job's files; {did_you_mean(path.name, there)}"
                yield NO_FILE.at(file.source, (field, index), message)


def check_sources(file: JobFile, team: Team) -> Iterator[Finding]:
    """Yield mounts of volumes that the job does not have."""
    job = file.job
    own = [each["name"] for each in job.volumes if isinstance(each.get("name"), str)]
    for index, mount in enumerate(job.mounts):
        if mount.volume is not None and mount.volume not in own:
            hint = "mount it by data" if mount.volume in team.volumes else did_you_mean(mount.volume, own)
            yield OWN.at(file.source, ("mounts", index, "volume"), f"volumes have no {mount.volume!r}; {hint}")


def of_kind(run: Run) -> Mapping[str, str]:
    """Return the folders in which a kind's operator puts what ranks meet by, each with whose it is."""
    kind = kinds()[run.kind]
    wiring = kind.wiring(run)
    return {folder: f"kind {kind.name!r}" for folder in (wiring.keys, posixpath.dirname(wiring.hostfile)) if folder}


def targets(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield every path that the job mounts something at, with its field; files of one folder are one mount."""
    if job.checkpoint:
        yield job.checkpoint.mount_path, ("checkpoint", "mountPath")
    for index, data in enumerate(job.data):
        yield data.mount_path, ("data", index, "mountPath")
    for index, mount in enumerate(job.mounts):
        yield mount.mount_path, ("mounts", index, "mountPath")
    folders: set[str] = set()
    for index, each in enumerate(job.files):
        folder = each.mount_path.rstrip("/")
        if folder not in folders:
            yield folder, ("files", index, "mountPath")
        folders.add(folder)
        yield f"{folder}/{each.source.rpartition('/')[2]}", ("files", index, "source")


def check(file: JobFile, team: Team, cluster: Cluster, *, pods: int) -> Iterator[Finding]:
    """Yield volumes that do not exist on the cluster, and access modes that do not fit as many pods as mount them."""
    job = file.job
    named: list[tuple[str, Path, bool]] = (
        [(job.checkpoint.volume, ("checkpoint", "volume"), True)] if job.checkpoint else []
    )
    named += [(data.volume, ("data", index, "volume"), not data.read_only) for index, data in enumerate(job.data)]
    for volume, place, writes in named:
        yield from check_volume(file, team, cluster, volume, place, pods=pods, writes=writes)
    yield from check_owners(file, team, cluster, named)


def check_owners(file: JobFile, team: Team, cluster: Cluster, named: list[tuple[str, Path, bool]]) -> Iterator[Finding]:
    """Yield a volume that needs the pod's group, beside one that fails with it."""
    claims = {name: team.volumes[name] for name, _, _ in named if name in team.volumes}
    there = {name: cluster.storage[each.storage] for name, each in claims.items() if each.storage in cluster.storage}
    kept = next((name for name, each in there.items() if each.squashed), None)
    for name, place, writes in named:
        if kept and writes and name in there and there[name].writable_by == "kubelet":
            message = f"pods of the job have no fsGroup for the sake of {kept!r}, but {name!r} needs one; move one"
            yield SQUASH.at(file.source, place, message)


def check_volume(
    file: JobFile, team: Team, cluster: Cluster, name: str, place: Path, *, pods: int, writes: bool
) -> Iterator[Finding]:
    """Yield what is wrong with one volume."""
    claim, where = team.volumes.get(name), file.job.cluster
    if claim is None:
        hint = did_you_mean(name, team.volumes)
        message = f"volume {name!r} does not exist in team {file.team!r}; {hint}"
        yield UNKNOWN.at(file.source, place, message)
        return
    storage = cluster.storage.get(claim.storage)
    if storage is None or (claim.clusters and where not in claim.clusters):
        known = (key for key, each in team.volumes.items() if each.storage in cluster.storage)
        here = sorted(key for key in known if where in (team.volumes[key].clusters or (where,)))
        message = f"volume {name!r} is not on cluster {where!r}; volumes there: {', '.join(here) or 'none'}"
        yield ELSEWHERE.at(file.source, place, message)
    elif storage.access == "ReadWriteOnce" and pods > 1:
        message = f"volume {name!r} is ReadWriteOnce, but the job has {pods} pods; use a ReadWriteMany volume"
        yield ACCESS.at(file.source, place, message)
    elif storage.access == "ReadOnlyMany" and writes:
        message = f"volume {name!r} is ReadOnlyMany, but the job writes to it; use another volume"
        yield ACCESS.at(file.source, place, message)
