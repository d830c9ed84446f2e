"""What pods mount: shared memory, scratch, checkpoints, datasets and the job's small files."""

from __future__ import annotations

import posixpath
from typing import Any

from trainyard.sizing import RoleSize
from trainyard.specs import File
from trainyard.specs.run import Run

SHARED_MEMORY = "shared-memory"
SCRATCH = "scratch"
FILES = "files"
SCRATCH_PATH = "/scratch"


def volumes(run: Run, size: RoleSize) -> list[dict[str, Any]]:
    """Return the pod's volumes; a claim that several mounts use stands there once."""
    job = run.job
    found: list[dict[str, Any]] = [
        {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size.shared_memory.value}}
    ]
    if job.scratch:
        found.append({"name": SCRATCH, "emptyDir": {"sizeLimit": job.scratch}})
    claims = [job.checkpoint.volume] if job.checkpoint else []
    claims += [dataset.volume for dataset in job.data]
    found += [
        {"name": claim_name(each), "persistentVolumeClaim": {"claimName": each}} for each in dict.fromkeys(claims)
    ]
    for name, files in by_folder(run).values():
        items = [{"key": key(file), "path": posixpath.basename(file.source)} for file in files]
        found.append({"name": name, "configMap": {"name": run.name, "items": items}})
    return found


def mounts(run: Run) -> list[dict[str, Any]]:
    """Return the training container's mounts; checkpoints lie below the job's name, which stays over its runs."""
    job = run.job
    found: list[dict[str, Any]] = [{"name": SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108 - the shared memory itself
    if job.scratch:
        found.append({"name": SCRATCH, "mountPath": SCRATCH_PATH})
    if job.checkpoint:
        place = {"mountPath": job.checkpoint.mount_path, "subPath": run.job_name}
        found.append({"name": claim_name(job.checkpoint.volume), **place})
    for dataset in job.data:
        mode = {"readOnly": True} if dataset.read_only else {}
        part = {"subPath": dataset.sub_path} if dataset.sub_path else {}
        place = {"name": claim_name(dataset.volume), "mountPath": dataset.mount_path}
        found.append({**place, **part, **mode})
    found += [{"name": name, "mountPath": folder, "readOnly": True} for folder, (name, _) in by_folder(run).items()]
    return found


def environment(run: Run) -> dict[str, str]:
    """Return where the program finds its checkpoints."""
    return {"CHECKPOINT_DIR": run.job.checkpoint.mount_path} if run.job.checkpoint else {}


def claim_name(volume: str) -> str:
    """Return the name in the pod of a team's volume, apart from names of ours and of the job's own volumes."""
    return f"claim-{volume}"


def by_folder(run: Run) -> dict[str, tuple[str, list[File]]]:
    """Return the job's small files by the folder they are mounted at, each with the name of its volume in the pod."""
    folders: dict[str, list[File]] = {}
    for file in run.job.files:
        folders.setdefault(file.mount_path, []).append(file)
    names = [FILES] if len(folders) == 1 else [f"{FILES}-{index}" for index in range(len(folders))]
    return {folder: (name, files) for name, (folder, files) in zip(names, folders.items(), strict=True)}


def key(file: File) -> str:
    """Return a file's key in the ConfigMap: its path beside the job, since two folders may have files of one name."""
    return file.source.replace("/", ".")


def config_map(run: Run) -> dict[str, str]:
    """Return the data of the run's ConfigMap."""
    return {key(file): run.contents[file.source] for file in run.job.files if file.source in run.contents}
