"""What pods mount: shared memory, scratch, checkpoints, datasets and the job's small files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.render.parts import contract
from trainyard.render.parts.programs import program_text
from trainyard.render.sizing import RoleSize, disks, flushing, staging
from trainyard.render.sizing.node import binary
from trainyard.specs import File, Job, Pool
from trainyard.specs.run import Run

SHARED_MEMORY = "shared-memory"
SCRATCH = "scratch"
FILES = "files"
SCRATCH_PATH = "/scratch"

LAUNCH = "launch"
LAUNCH_FOLDER = "/etc/trainyard"
"""Where the launcher's own files are in every pod: its volume, and the prefix of their keys in the ConfigMap."""


def volumes(run: Run, size: RoleSize, launch: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return a role's volumes: those of the job where the role runs its program, and the launcher's files."""
    found: list[dict[str, Any]] = [
        {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size.shared_memory.value}}
    ]
    found += map(dict, size.fabric.volumes)
    if size.trains:
        found += of_job(run, run.cluster.pools[size.pool])
    items = [{"key": launch_key(name), "path": name} for name in launch]
    return [*found, {"name": LAUNCH, "configMap": {"name": run.name, "items": items}}] if items else found


def of_job(run: Run, pool: Pool) -> list[dict[str, Any]]:
    """Return the volumes that the job asks for; a claim that several mounts use stands there once."""
    job = run.job
    found: list[dict[str, Any]] = [{"name": SCRATCH, **scratch(job, pool)}] if job.scratch else []
    found += local_checkpoints(run, pool)
    found += local_data(run, pool)
    claims = [job.checkpoint.volume] if job.checkpoint else []
    claims += [dataset.volume for dataset in job.data]
    found += [
        {"name": claim_name(fromkey), "persistentVolumeClaim": {"claimName": fromkey}}
        for fromkey in dict.fromkeys(claims)
    ]
    for name, files in by_folder(run).values():
        items = [{"key": key(file), "path": posixpath.basename(file.source)} for file in files]
        found.append({"name": name, "configMap": {"name": run.name, "items": items}})
    return found


def scratch(job: Job, pool: Pool) -> dict[str, Any]:
    """Return a volume that is gone with its pod: a claim on the pool's local disks, or a folder of the kubelet's.

    No host path would do: Pod Security refuses it from the level baseline on.
    """
    wanted, storage = disks.scratch(job), disks.storage_of_scratch(job, pool)
    return ending_with_pod(wanted.size if wanted else None, storage)


def ending_with_pod(size: str | None, storage: str | None) -> dict[str, Any]:
    """Return a volume of a size that is gone with its pod: a claim of a storage, or else an emptyDir."""
    if size is None or storage is None:
        return {"emptyDir": {"sizeLimit": size}}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage,
        "resources": {"requests": {"storage": size}},
    }
    return {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def local_checkpoints(run: Run, pool: Pool) -> list[dict[str, Any]]:
    """Return the volume on local disks that a job saves to first, and the program that copies from there."""
    room = flushing.disk_of(run.job)
    if room is None:
        return []
    items = [{"key": launch_key(flushing.PROGRAM_FILE), "path": flushing.PROGRAM_FILE}]
    return [
        {
            "name": flushing.VOLUME,
            **ending_with_pod(binary(room.value), flushing.storage_of_flush(run.job, pool)),
        },
        {"name": flushing.PROGRAM, "configMap": {"name": run.name, "items": items}},
    ]


def local_data(run: Run, pool: Pool) -> list[dict[str, Any]]:
    """Return the volume on local disks that data is copied to before training, and the program that copies it."""
    room = staging.disk_of(run.job)
    if room is None:
        return []
    items = [{"key": launch_key(staging.PROGRAM_FILE), "path": staging.PROGRAM_FILE}]
    storage = staging.storage_of_stage(run.job, pool)
    return [
        {"name": staging.VOLUME, **ending_with_pod(binary(room.value), storage)},
        {"name": staging.PROGRAM, "configMap": {"name": run.name, "items": items}},
    ]


def has_squashed_volume(run: Run) -> bool:
    """Whether the run mounts a volume through which the kubelet would walk in vain, and fail at a closed folder."""
    names = [run.job.checkpoint.volume] if run.job.checkpoint else []
    names += [dataset.volume for dataset in run.job.data]
    claims = (run.team.volumes[name] for name in names if name in run.team.volumes)
    return any(run.cluster.storage[claim.storage].squashed for claim in claims if claim.storage in run.cluster.storage)


def mounts(run: Run, size: RoleSize, launch: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the mounts of a role's container."""
    found: list[dict[str, Any]] = [{"name": SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108 - the shared memory itself
    found += map(dict, size.fabric.mounts)
    if size.trains:
        found += mounts_of_job(run)
    if any(True for _ in launch):
        found.append({"name": LAUNCH, "mountPath": LAUNCH_FOLDER, "readOnly": True})
    return found


def mounts_of_job(run: Run) -> list[dict[str, Any]]:
    """Return the volume mounts of the job; checkpoints lie in its folder, which stays over its runs.

    Each index of an array has a folder of its own in it.
    """
    job = run.job
    found: list[dict[str, Any]] = [{"name": SCRATCH, "mountPath": SCRATCH_PATH}] if job.scratch else []
    if job.checkpoint and job.checkpoint.flush is not None:
        found.append({"name": flushing.VOLUME, "mountPath": job.checkpoint.mount_path})
        place = {"mountPath": flushing.DURABLE, "subPath": run.folder, "readOnly": True}
        found.append({"name": claim_name(job.checkpoint.volume), **place})
    elif job.checkpoint:
        folder = {"subPath": run.folder}
        if job.array is not None:
            folder = {"subPathExpr": f"{run.folder}/$({contract.ARRAY_INDEX})"}
        place = {"mountPath": job.checkpoint.mount_path, **folder}
        found.append({"name": claim_name(job.checkpoint.volume), **place})
    for one in staging.copies(job):
        place = {"name": staging.VOLUME, "mountPath": one.mount_path, "subPath": one.name}
        found.append({**place, "readOnly": True})
    for dataset in job.data:
        if dataset.stage is not None:
            continue
        mode = {"readOnly": True} if dataset.read_only else {}
        part = {"subPath": dataset.sub_path} if dataset.sub_path else {}
        place = {"name": claim_name(dataset.volume), "mountPath": dataset.mount_path}
        found.append({**place, **part, **mode})
    found += [{"name": name, "mountPath": folder, "readOnly": True} for folder, (name, _) in by_folder(run).items()]
    return found


def claim_name(volume: str) -> str:
    """Return the name in the pod of a team's volume, apart from names of ours and of the job's own volumes."""
    return f"claim-{volume}"


def by_folder(run: Run) -> dict[str, tuple[str, list[File]]]:
    """Return the job's small files by the folder they are mounted at, each with the name of its volume in the pod."""
    folders: dict[str, list[File]] = {}
    for file in run.job.files:
        folders.setdefault(file.mount_path.rstrip("/"), []).append(file)
    names = [FILES] if len(folders) == 1 else [f"{FILES}-{index}" for index in range(len(folders))]
    return {folder: (name, files) for name, (folder, files) in zip(names, folders.items(), strict=True)}


def key(file: File) -> str:
    """Return a file's key in the ConfigMap: its path beside the job, since two folders may have files of one name."""
    return file.source.replace("/", ".")


def launch_key(name: str) -> str:
    """Return the key of one of the launcher's files in the ConfigMap."""
    return f"{LAUNCH}.{name}"


def config_map(run: Run, launch: Mapping[str, str]) -> dict[str, str]:
    """Return the data of the run's ConfigMap: the job's small files, and the launcher's."""
    own = {key(file): run.contents[file.source] for file in run.job.files if file.source in run.contents}
    if flushing.flush_of(run.job) is not None:
        own[launch_key(flushing.PROGRAM_FILE)] = program_text("flush")
    if staging.disk_of(run.job) is not None:
        own[launch_key(staging.PROGRAM_FILE)] = program_text("stage")
    return own | {launch_key(name): text for name, text in launch.items()}
