"""What a job mounts: volumes that its team has on the cluster, fit for as many pods, each at a path of its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.jobs import is_known
from trainyard.judge.preflight.subjects import JOB, PLACED, RESOLVED, OneJob
from trainyard.render.kinds import Resolved, kinds
from trainyard.render.launchers import launchers
from trainyard.render.parts import ceph_buckets
from trainyard.render.parts.storage import LAUNCH_FOLDER, has_squashed_volume
from trainyard.render.sizing.disks import storage_of_scratch
from trainyard.render.sizing.flushing import DURABLE, storage_of_flush
from trainyard.render.sizing.roles import at_once
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.run import Run
from trainyard.specs.sources import JobFile

MOUNT_PATH = Rule(
    id="spec/mount-path",
    title="Every mount of a job has its own path, and hides no system folder.",
    why="the API server refuses two mounts at one path, and a mount hides the image's files below it",
    fix="use another mountPath",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go ValidateVolumeMounts",
)
INSIDE = Rule(
    id="spec/mount-inside",
    title="Nothing is mounted inside a read-only volume or inside the checkpoints.",
    why="the runtime must create the folder in the outer volume: if that is read-only, no container starts",
    fix="use a mountPath outside; waive this if the volume already contains the folder",
    source="opencontainers/runc v1.3 libcontainer/rootfs_linux.go createMountpoint",
    severity=Severity.WARNING,
)
NO_FILE = Rule(
    id="run/no-file",
    title="Every path in the job's files folder is one of its files.",
    why="that folder contains the job's files only and is read-only, so the program does not find the path",
    fix="correct the name, or add the file to files",
    source="kubernetes v1.35 pkg/volume/configmap/configmap.go SetUpAt",
    layer="run",
    severity=Severity.WARNING,
)
UNKNOWN = Rule(
    id="spec/unknown-volume",
    title="The volumes of a job are listed in its team's file.",
    why="a pod whose claim is missing stays pending for ever",
    fix="name a volume of platform/teams/<team>.yaml, or add it there",
    source="docs/jobs.md",
)
ELSEWHERE = Rule(
    id="spec/volume-cluster",
    title="The volumes of a job exist on its cluster.",
    why="the claim is created only where the cluster has the storage; without it the job's pods stay pending",
    fix="use a volume of that cluster, or add the storage to the cluster",
    source="docs/clusters.md",
)
OWN = Rule(
    id="spec/mount-volume",
    title="A mount by name uses one of the job's own volumes.",
    why="the API server refuses a pod that mounts an undefined volume",
    fix="add the volume to volumes, or mount a team's volume under data",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go ValidateVolumeMounts",
)
ACCESS = Rule(
    id="spec/volume-access",
    title="A volume's access mode allows the number of pods and the writes of the job.",
    why="a ReadWriteOnce volume attaches to one node, so pods on other nodes stay in ContainerCreating",
    fix="use a ReadWriteMany volume",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go PersistentVolumeAccessMode",
)

SQUASH = Rule(
    id="sto-root-squash",
    title="A job writes to volumes that the kubelet opens to pods, or that a server opens, not to both.",
    why="a pod has one fsGroup for all volumes: with it the server's volume fails to mount, without it saving fails",
    fix="move everything that the job writes to one of them",
    source="kubernetes v1.35 pkg/volume/volume_linux.go",
    severity=Severity.WARNING,
)


SYSTEM = frozenset(
    f"/{folder}"
    for folder in (
        *("bin", "sbin", "lib", "lib64", "boot", "dev", "etc", "proc", "sys", "usr", "var", "usr/bin", "usr/sbin"),
        *("usr/lib", "usr/lib64", "usr/local", "usr/local/bin", "usr/local/lib", "usr/local/cuda", "opt/conda"),
    )
)
"""Folders with the image's programs, or the kernel's: what is mounted there hides Python, users or certificates."""

NAME = re.compile(r"[\w.-]+")
"""A file's name in an argument, without what a shell or a program would replace."""

PROC = "/proc/"
"""Where runtimes mount nothing (opencontainers/runc v1.3 libcontainer/rootfs_linux.go checkProcMount)."""


@JOB.check()
def check_mounts(one: OneJob) -> Iterator[Finding]:
    """Yield two mounts at one path, and files of one name in the container; whoever changed the other has it there."""
    file, by_kind = one.file, of_kind(one.run) if one.run and is_known(one.run) else {}
    taken = {"/dev/shm": "shared memory", LAUNCH_FOLDER: "the launcher", **by_kind}  # noqa: S108 - a path in the pod
    if file.job.scratch:
        taken["/scratch"] = "scratch"
    if file.job.checkpoint and file.job.checkpoint.flush is not None:
        taken[DURABLE] = "checkpoint.flush"
    if one.run is not None and ceph_buckets.trusted(one.run) is not None:
        taken[ceph_buckets.FOLDER] = "certificates of buckets"
    places: dict[str, Path] = {}
    for path, place in targets(file.job):
        target = posixpath.normpath(f"/{path.strip('/')}")  # as the kubelet and the runtime read '..'
        if target == "/":
            yield MOUNT_PATH.at(file.source, place, "mountPath is '/', which would hide the image; use a folder")
        elif target in SYSTEM or target.startswith(PROC):
            message = f"mountPath is {target!r}, a folder of the image or the kernel; use one such as /data"
            yield MOUNT_PATH.at(file.source, place, message)
        elif target in taken:
            message = f"path {target!r} is already mounted, by {taken[target]}; use another"
            others = [places[target]] if target in places else []
            if others:  # each of the two may have been changed
                by = " and ".join(dict.fromkeys([taken[target], str(place[0])]))
                message = f"path {target!r} is mounted twice, by {by}; use another"
            yield MOUNT_PATH.at(file.source, place, message, shared=others)
        taken.setdefault(target, str(place[0]))
        places.setdefault(target, place)


@JOB.check()
def check_inside(one: OneJob) -> Iterator[Finding]:
    """Yield mounts inside of a read-only data set or of the checkpoints; whoever changed the outer one has it there."""
    file, job = one.file, one.file.job
    outer: dict[str, tuple[str, Path]] = {
        data.mount_path.rstrip("/"): (f"read-only volume {data.volume!r}", ("data", index, "mountPath"))
        for index, data in enumerate(job.data)
        if data.read_only
    }
    outer |= {
        use.mount_path.rstrip("/"): (f"bucket {use.bucket!r}", ("buckets", index, "mountPath"))
        for index, use in enumerate(job.buckets)
        if use.mount_path is not None
    }
    if job.checkpoint is not None:
        outer[job.checkpoint.mount_path.rstrip("/")] = ("the checkpoints", ("checkpoint", "mountPath"))
    for path, place in targets(job):
        above = next((above for above in parents(path) if above in outer), None)
        if above is not None and place[-1] != "source":
            whose, other = outer[above]
            message = f"mountPath {path!r} is inside {whose}, where no folder can be created; use another"
            yield INSIDE.at(file.source, place, message, shared=[other])


@lru_cache(maxsize=1024)
def parents(path: str) -> tuple[str, ...]:
    """Return the folders that a path is in, the nearest first."""
    return tuple(map(str, PurePosixPath(path).parents))


@JOB.check()
def check_files(one: OneJob) -> Iterator[Finding]:
    """Yield arguments that name a file in a folder of the job's files, which has none of that name.

    A mountPath that ends with the file's own name was meant as the path of the file.
    """
    file = one.file
    for index, one_file in enumerate(file.job.files):
        path = PurePosixPath(one_file.mount_path)
        if path.name == one_file.source.rpartition("/")[2] and path.suffix:
            message = f"mountPath is a folder, so the file is at {path}/{path.name}; write {path.parent}"
            yield NO_FILE.at(file.source, ("files", index, "mountPath"), message)
    folders: dict[str, set[str]] = {}
    if any(one_file.source not in file.contents for one_file in file.job.files):
        return  # a source is misspelt: that is said at the source
    for one_file in file.job.files:
        folders.setdefault(one_file.mount_path.rstrip("/"), set()).add(one_file.source.rpartition("/")[2])
    for field in ("command", "args") if folders else ():
        for index, word in enumerate(getattr(file.job, field) or ()):
            path = PurePosixPath(word.partition("=")[2] or word) if word.startswith("-") else PurePosixPath(word)
            there = folders.get(str(path.parent))
            if there and NAME.fullmatch(path.name) and path.name not in there:
                message = f"{path} is not one of the job's files; {did_you_mean(path.name, there)}"
                yield NO_FILE.at(file.source, (field, index), message)


@PLACED.check()
def check_sources(one: OneJob, team: Team, _: Cluster) -> Iterator[Finding]:
    """Yield mounts of volumes that the job does not have."""
    file, job = one.file, one.file.job
    own = [volume["name"] for volume in job.volumes if isinstance(volume.get("name"), str)]
    for index, mount in enumerate(job.mounts):
        if mount.volume is not None and mount.volume not in own:
            hint = "mount it under data" if mount.volume in team.volumes else did_you_mean(mount.volume, own)
            yield OWN.at(
                file.source, ("mounts", index, "volume"), (f"volumes does not contain {mount.volume!r}; {hint}")
            )


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
    for index, use in enumerate(job.buckets):
        if use.mount_path is not None:
            yield use.mount_path, ("buckets", index, "mountPath")
    for index, mount in enumerate(job.mounts):
        yield mount.mount_path, ("mounts", index, "mountPath")
    folders: set[str] = set()
    for index, file in enumerate(job.files):
        folder = file.mount_path.rstrip("/")
        if folder not in folders:
            yield folder, ("files", index, "mountPath")
        folders.add(folder)
        yield f"{folder}/{file.source.rpartition('/')[2]}", ("files", index, "source")


def pods_that_train(run: Run | None, file: JobFile) -> int:
    """Return how many pods mount a job's volumes: the launcher knows which of them train, a wrong job's all count."""
    if run is None or not is_known(run):
        return file.job.nodes * at_once(file.job) + sum(role.nodes for role in file.job.roles.values())
    return sum(role.pods for role in launchers()[run.job.launcher].roles(run) if role.trains)


@PLACED.check()
def check(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield volumes that do not exist on the cluster, and access modes that do not fit as many pods as mount them."""
    file, job, pods = one.file, one.file.job, pods_that_train(one.run, one.file)
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
    there = {name: cluster.storage[claim.storage] for name, claim in claims.items() if claim.storage in cluster.storage}
    kept = next((name for name, storage in there.items() if storage.squashed), None)
    for name, place, writes in named:
        if kept and writes and name in there and there[name].writable_by == "kubelet":
            message = f"volume {kept!r} forbids an fsGroup, but {name!r} needs one; mount only one of the two"
            yield SQUASH.at(file.source, place, message)


@RESOLVED.check()
def check_local_volumes(run: Resolved) -> Iterator[Finding]:
    """Yield scratch and checkpoints on new volumes of local disks, which belong to root without the pod's group."""
    job, cluster, made = run.run.job, run.run.cluster, dict[Path, str | None]()
    for role in run.specs if has_squashed_volume(run.run) else ():
        if role.trains:
            made[("scratch",)] = storage_of_scratch(job, role.pool) or made.get(("scratch",))
            made[("checkpoint", "flush")] = storage_of_flush(job, role.pool) or made.get(("checkpoint", "flush"))
    for path, name in made.items():
        if name in cluster.storage and cluster.storage[name].writable_by == "kubelet":
            message = f"{'.'.join(map(str, path))} is on volumes of {name!r}, which need an fsGroup"
            yield SQUASH.at(run.run.source, path, f"{message} that another volume forbids; mount only one of the two")


def check_volume(
    file: JobFile, team: Team, cluster: Cluster, name: str, place: Path, *, pods: int, writes: bool
) -> Iterator[Finding]:
    """Yield the problems with one volume."""
    claim, where = team.volumes.get(name), file.job.cluster
    if claim is None:
        hint = did_you_mean(name, team.volumes)
        message = f"volume {name!r} does not exist in team {file.team!r}; {hint}"
        yield UNKNOWN.at(file.source, place, message)
        return
    storage = cluster.storage.get(claim.storage)
    if storage is None or (claim.clusters and where not in claim.clusters):
        known = (key for key, volume in team.volumes.items() if volume.storage in cluster.storage)
        here = sorted(key for key in known if where in (team.volumes[key].clusters or (where,)))
        message = f"volume {name!r} does not exist on cluster {where!r}; volumes there: {', '.join(here) or 'none'}"
        yield ELSEWHERE.at(file.source, place, message)
    elif storage.access == "ReadWriteOnce" and pods > 1:
        message = f"volume {name!r} is ReadWriteOnce, but the job has {pods} pods; use a ReadWriteMany volume"
        yield ACCESS.at(file.source, place, message)
    elif storage.access == "ReadOnlyMany" and writes:
        message = f"volume {name!r} is ReadOnlyMany, but the job writes to it; use another volume"
        yield ACCESS.at(file.source, place, message)
