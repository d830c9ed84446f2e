"""Data that is copied to local disks before training: its room, the container that copies it, and how long it takes.

A volume on local disks is gone with its pod, so each new pod copies again. A container that starts again in its pod
does not (docs/decisions/staged-data.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import Path
from trainyard.render.sizing.base import RoleSize, Sized
from trainyard.render.sizing.node import GI, MI, binary, size
from trainyard.specs import Job, Pool
from trainyard.specs.models.stage import Stage
from trainyard.specs.run import Run
from trainyard.upstream.pods.resources import CPU, MEMORY

NAME = "stage-data"
"""Name of the container, which ends before training starts."""

VOLUME = "staged-data"
"""Name of the pod's volume on local disks."""

PROGRAM, PROGRAM_FOLDER, PROGRAM_FILE = "stage", "/etc/trainyard", "stage.py"
"""The volume with the program, its folder in the container, and the file's name."""

LOCAL, SOURCES = "/staged", "/stage-from"
"""Where the container sees the local volume, and folders with the data."""

CPUS = 8
"""CPUs of the container at most: one for each of its threads, and no more than training has after it."""

ROOM = 16 * GI
"""Bytes of its memory at most: files in flight are in the page cache, which counts."""

MARGIN = 10
"""Hundredths of a volume beyond the data: blocks of small files, and what a file system keeps (assumed)."""

FASTEST = 2 * GI
"""Bytes per second that one node copies at most.

Measured: 1.1 GiB/s with sums on one busy core between folders in memory; a local disk writes as fast as two (assumed).
"""


@dataclass(frozen=True, slots=True)
class Staged:
    """One dataset of a job that is copied to local disks."""

    name: str
    """Its folder in the local volume."""
    volume: str
    """Name of the volume in the pod that it is copied from."""
    folder: str
    """Folder in that volume; empty for all of it."""
    mount_path: str
    stage: Stage
    path: Path
    """Its field in the job."""
    claim: str | None
    """The team's volume; None for a bucket."""


def copies(job: Job) -> Iterator[Staged]:
    """Yield the data that a job copies to local disks, in the order of its fields."""
    for index, data in enumerate(job.data):
        if data.stage is not None:
            volume, path = f"claim-{data.volume}", ("data", index, "stage")
            yield Staged(
                f"data-{index}", volume, data.sub_path or "", data.mount_path, data.stage, path, claim=data.volume
            )
    for index, use in enumerate(job.buckets):
        if use.stage is not None and use.mount_path is not None:
            volume, path = f"bucket-{use.bucket}", ("buckets", index, "stage")
            yield Staged(f"bucket-{index}", volume, "", use.mount_path, use.stage, path, claim=None)


def disk_of(job: Job) -> Sized[int] | None:
    """Return the bytes of local disk of each pod for staged data, or None."""
    sizes = [one.stage.size for one in copies(job)]
    if not sizes:
        return None
    data = sum(map(size, sizes))
    amount = max(GI, math.ceil(data * (100 + MARGIN) / 100 / MI) * MI)
    return Sized(amount, f"staged data of {' + '.join(sizes)} and {MARGIN} %")


def storage_of_stage(job: Job, pool: Pool) -> str | None:
    """Return the storage that makes each pod a volume for staged data, or None where it is an emptyDir."""
    return pool.local_disks.storage if disk_of(job) is not None and pool.local_disks else None


def container(job: Job, role: RoleSize) -> list[dict[str, Any]]:
    """Return the container that copies in the pods of a role, or none: it has part of what training has after it.

    Whole CPUs, and pairs of them where there are as many: a static CPU manager gives them to training afterwards
    (kubernetes v1.35 pkg/kubelet/cm/cpumanager/policy_static.go cpusToReuse).
    """
    found = list(copies(job))
    if not found or not role.trains:
        return []
    cpus = min(CPUS, role.cpus.value)
    cpus -= cpus % 2 if cpus > 1 else 0
    memory = binary(min(ROOM, size(role.memory.value)))
    plan = [{"name": one.name, "from": f"{SOURCES}/{one.name}", "bytes": size(one.stage.size)} for one in found]
    sources = [
        {
            "name": one.volume,
            "mountPath": f"{SOURCES}/{one.name}",
            "readOnly": True,
            **({"subPath": one.folder} if one.folder else {}),
        }
        for one in found
    ]
    return [
        {
            "name": NAME,
            "image": job.image_name,
            "command": ["python3", f"{PROGRAM_FOLDER}/{PROGRAM_FILE}"],
            "env": [
                {"name": "STAGE_PLAN", "value": json.dumps(plan, separators=(",", ":"))},
                {"name": "STAGE_LOCAL", "value": LOCAL},
                {"name": "STAGE_THREADS", "value": str(max(2, cpus))},
                {"name": "PYTHONUNBUFFERED", "value": "1"},
            ],
            "resources": {"limits": {CPU: str(cpus), MEMORY: memory}},
            "volumeMounts": [
                {"name": VOLUME, "mountPath": LOCAL},
                {"name": PROGRAM, "mountPath": PROGRAM_FOLDER, "readOnly": True},
                *sources,
            ],
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }
    ]


def seconds(run: Run, pods: int) -> Sized[float] | None:
    """Return the seconds that so many pods take to copy everything at least, or None where nothing is staged.

    A class's throughput is shared by all nodes of the cluster, as for checkpoints; a bucket has none that is stated.
    """
    total, words = 0.0, []
    nodes = sum(pool.nodes for pool in run.cluster.pools.values())
    for one in copies(run.job):
        rate = FASTEST
        team = run.team.volumes.get(one.claim) if one.claim else None
        storage = run.cluster.storage.get(team.storage) if team else None
        if storage is not None and storage.throughput is not None:
            rate = max(1, min(rate, size(storage.throughput) * min(pods, nodes) // (nodes * pods)))
        total += size(one.stage.size) / rate
        words.append(f"{one.stage.size} / ({binary(rate)}/s)")
    return Sized(total, " + ".join(words)) if words else None


def facts(run: Run, pods: int) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the time that staging takes, for `explain`."""
    found = seconds(run, pods)
    if found is not None:
        minutes = math.ceil(found.value / 60)
        yield "stage.minutes", Sized(str(minutes), f"at least {minutes} = {found.origin} on each of {pods} pods")
