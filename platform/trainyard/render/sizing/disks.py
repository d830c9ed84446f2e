"""Local disk of a pod: what it asks of the disk with the kubelet's folder, and scratch that is on a disk of its own."""

from __future__ import annotations

from trainyard.render.sizing import flushing
from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.node import GI, binary, size
from trainyard.render.sizing.roles import WORKER, RoleSpec
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
    wanted, local, saved = scratch(job), role.pool.local_disks, saved_locally(job, role)
    if local is None or local.storage is None or not role.trains:
        return None
    own = size(wanted.size) if wanted is not None and storage_of_scratch(job, role.pool) is not None else 0
    claimed = own + (saved.value if saved is not None else 0)
    return (claimed, size(local.size)) if claimed else None


def saved_locally(job: Job, role: RoleSpec) -> Sized[int] | None:
    """Return the bytes of local disk for checkpoints of one pod of a role, or None: it saves to the volume itself."""
    return flushing.disk_of(job) if role.name == WORKER else None


def storage_of(job: Job, role: RoleSpec) -> Sized[str]:
    """Return bytes on the disk with the kubelet's folder: emptyDirs, logs and the writable layer of the image.

    No more than that: a share of a disk that a node may not have would keep a pod from every node.
    """
    wanted = scratch(job) if role.trains else None
    saved = saved_locally(job, role)
    if saved is not None and flushing.storage_of_flush(job, role.pool) is None:
        return with_checkpoints(job, role, wanted, saved)
    if wanted is None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs, /tmp and the image's writable layer")
    own = storage_of_scratch(job, role.pool)
    if own is not None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs and /tmp; scratch is a volume of storage {own!r}")
    amount = binary(LAYER + size(wanted.size))
    return Sized(amount, f"{amount} = scratch of {wanted.size} + {binary(LAYER)} for logs, /tmp and the image's layer")


def with_checkpoints(job: Job, role: RoleSpec, wanted: Scratch | None, saved: Sized[int]) -> Sized[str]:
    """Return bytes of the same disk where checkpoints are on it too, in an emptyDir."""
    here = wanted if wanted is not None and storage_of_scratch(job, role.pool) is None else None
    amount = binary(LAYER + saved.value + (size(here.size) if here else 0))
    parts = [f"{binary(saved.value)} for {saved.origin}", *([f"scratch of {here.size}"] if here else [])]
    return Sized(amount, f"{amount} = {' + '.join(parts)} + {binary(LAYER)} for logs, /tmp and the image's layer")
