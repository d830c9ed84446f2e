"""Local disk of a pod: what it asks of the disk with the kubelet's folder, and scratch that is on a disk of its own."""

from __future__ import annotations

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.node import GI, binary, size
from trainyard.render.sizing.roles import RoleSpec
from trainyard.specs import Job, Pool
from trainyard.specs.models.disks import Scratch

LAYER = 10 * GI
"""Local disk beside `scratch`: logs, `/tmp` and the image's writable layer."""


def scratch(job: Job) -> Scratch | None:
    """Return a job's scratch, however it is written."""
    return Scratch(size=job.scratch) if isinstance(job.scratch, str) else job.scratch


def storage_of_scratch(job: Job, pool: Pool) -> str | None:
    """Return the storage that makes each pod a volume of its own, or None where scratch is an emptyDir."""
    wanted = scratch(job)
    return pool.local_disks.storage if wanted and wanted.medium == "nvme" and pool.local_disks else None


def of_local_disks(job: Job, role: RoleSpec) -> tuple[int, int] | None:
    """Return the bytes that one pod claims of its node's local disks and those that a node has, or None: no claim."""
    wanted, local = scratch(job), role.pool.local_disks
    if wanted is None or local is None or storage_of_scratch(job, role.pool) is None or not role.trains:
        return None
    return size(wanted.size), size(local.size)


def storage_of(job: Job, role: RoleSpec) -> Sized[str]:
    """Return bytes on the disk with the kubelet's folder: emptyDirs, logs and the writable layer of the image.

    No more than that: a share of a disk that a node may not have would keep a pod from every node.
    """
    wanted = scratch(job) if role.trains else None
    if wanted is None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs, /tmp and the image's writable layer")
    own = storage_of_scratch(job, role.pool)
    if own is not None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs and /tmp; scratch is a volume of storage {own!r}")
    amount = binary(LAYER + size(wanted.size))
    return Sized(amount, f"{amount} = scratch of {wanted.size} + {binary(LAYER)} for logs, /tmp and the image's layer")
