"""Whether the folders that arguments and variables name are on volumes, where what is saved outlives the pod."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import folder_of, key, within
from trainyard.judge.preflight.job.near_mounts import near_mounts, nearest
from trainyard.judge.preflight.job.options import program_options
from trainyard.judge.preflight.job.volumes import targets
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.specs import Job, Repository
from trainyard.upstream.trainers import reading, saving, within_others

UNMOUNTED = Rule(
    id="run/unmounted",
    title="Folders that a program saves into, or reads data from, are on a volume.",
    why="a folder without a volume is in the container: its files are lost with the pod, and data is not in it",
    fix="use a folder of checkpoint or data; add options of your own programs to folders in repository.yaml",
    source="platform/trainyard/upstream/trainers; kubernetes/website v1.35 content/en/docs/concepts/storage/volumes.md",
    layer="run",
    severity=Severity.WARNING,
)

IMAGE = ("/workspace", "/opt", "/app", "/usr", "/home", "/root", "/src", "/srv", "/code", "/etc", "/var")
"""Folders in which images have programs, and may have data."""


OFFLINE = frozenset({"offline", "dryrun"})
"""Modes in which runs are only on disk (wandb v0.21 wandb/sdk/wandb_settings.py)."""

CACHE = "nvmepath"
"""DeepSpeed's folder for what it moves off the GPUs (deepspeed v0.16.5 runtime/zero/offload_config.py)."""


RELATIVE = re.compile(r"\.|(?:\.{1,2}/)?[A-Za-z0-9_][\w.-]*(?:/[\w.-]+)*/?")
"""A folder below another, as nothing but a path is written."""


class Named(NamedTuple):
    """A folder that a job names."""

    path: Path
    """Where in the job's file."""
    name: str
    """The option or the variable, as written."""
    folder: str
    saves: bool
    """Whether the program saves there; else it reads."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield folders of checkpoints, outputs and data that no volume holds, or that a volume holds read-only."""
    job = one.file.job
    if job.runtime or any("volumeMounts" in str(patch.merge) for patch in job.patches):
        return
    contents = one.run.contents if one.run is not None else {}
    mounted, closed = folders(job), read_only(job)
    found = set[Path]()
    for named in folders_named(job, one.specs.repository, contents):
        inside = [folder for folder in mounted if within(named.folder, folder)]
        if not inside and (named.saves or not any(within(named.folder, top) for top in IMAGE)):
            found.add(named.path)
            yield UNMOUNTED.at(one.file.source, named.path, f"{sentence(named)}; {instead(job, named)}")
        elif named.saves and max(inside, key=len, default="") in closed:
            message = f"{named.name} saves into {named.folder!r}, which is mounted read-only"
            yield UNMOUNTED.at(one.file.source, named.path, f"{message}; set readOnly: false, or use another folder")
    yield from lost_logs(one, job, mounted)
    for near in near_mounts(job, contents, mounted, IMAGE):
        if near.at not in found:
            message = f"{near.path!r} is on no volume of the job; did you mean {near.folder!r}?"
            yield UNMOUNTED.at(one.file.source, near.at, message)


def lost_logs(one: OneJob, job: Job, mounted: list[str]) -> Iterator[Finding]:
    """Yield Weights & Biases that stays offline and keeps its runs in the container."""
    offline = job.env.get("WANDB_MODE", "").strip().lower() in OFFLINE
    inside = any(within(job.working_dir, folder) for folder in mounted) if job.working_dir else False
    if offline and "WANDB_DIR" not in job.env and not inside and job.command is None:
        message = "WANDB_MODE keeps runs in ./wandb, which is lost with the pod; set WANDB_DIR to a folder on a volume"
        yield UNMOUNTED.at(one.file.source, ("env", "WANDB_MODE"), message)


def sentence(named: Named) -> str:
    """Say what follows from a folder that no volume holds."""
    if named.saves:
        return f"{named.name} saves into {named.folder!r}, which is on no volume and lost with the pod"
    return f"{named.name} reads {named.folder!r}, which is on no volume of the job"


def instead(job: Job, named: Named) -> str:
    """Say what to write instead."""
    if near := nearest(named.folder, folders(job), IMAGE):
        return f"did you mean {near!r}?"
    if named.name.lower().replace("_", "").endswith(CACHE):
        return "set scratch, and use /scratch"
    if not named.saves:
        return "mount it under data"
    return "use $(CHECKPOINT_DIR)" if job.checkpoint else "add checkpoint, and use $(CHECKPOINT_DIR)"


def folders(job: Job) -> list[str]:
    """Return the folders in the training container that volumes hold."""
    return [LAUNCH_FOLDER, *(path.rstrip("/") or "/" for path, _ in targets(job))]


def read_only(job: Job) -> frozenset[str]:
    """Return the folders that the program cannot write."""
    data = [data.mount_path for data in job.data if data.read_only]
    mounts = [mount.mount_path for mount in job.mounts if mount.read_only]
    buckets = [use.mount_path for use in job.buckets if use.mount_path and use.read_only]
    return frozenset(path.rstrip("/") for path in (*data, *mounts, *buckets, *(file.mount_path for file in job.files)))


def folders_named(job: Job, repository: Repository, contents: Mapping[str, str]) -> Iterator[Named]:
    """Yield the absolute folders that arguments and variables name, by the names of trainers and the repository."""
    saves = saving() | frozenset(repository.folders.saves)
    reads = (reading() | frozenset(repository.folders.reads)) - saves
    for path, option, value in (*program_options(job, contents), *variables(job)):
        name = key(option)
        folder = folder_of(absolute(job, name, value) if name in saves - within_others() else value)
        if folder and name in saves | reads:
            yield Named(path, option, folder, name in saves)


def absolute(job: Job, name: str, value: str) -> str:
    """Return a relative folder below the job's working folder, where that is written; others as they are."""
    is_folder = "/" in value or value.startswith(".") or name.endswith(("dir", "folder"))
    return f"{job.working_dir}/{value}" if job.working_dir and is_folder and RELATIVE.fullmatch(value) else value


def variables(job: Job) -> Iterator[tuple[Path, str, str]]:
    """Yield the variables of a job and of its roles, with their values."""
    yield from ((("env", name), name, value) for name, value in job.env.items())
    for role, said in job.roles.items():
        yield from ((("roles", role, "env", name), name, value) for name, value in said.env.items())
