"""Local disk of a pod: what it asks of the disk with the kubelet's folder, and scratch that is on a disk of its own."""

from __future__ import annotations

from trainyard.render.sizing import flushing, staging
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
    wanted, local = scratch(job), role.pool.local_disks
    if local is None or local.storage is None or not role.trains:
        return None
    own = size(wanted.size) if wanted is not None and storage_of_scratch(job, role.pool) is not None else 0
    claimed = own + sum(one.value for one in on_local_disks(job, role))
    return (claimed, size(local.size)) if claimed else None


def on_local_disks(job: Job, role: RoleSpec) -> list[Sized[int]]:
    """Return the bytes of local disk that one pod of a role has for checkpoints and for staged data, where it does."""
    saved = flushing.disk_of(job) if role.name == WORKER else None
    data = staging.disk_of(job) if role.trains else None
    return [one for one in (saved, data) if one is not None]


def storage_of(job: Job, role: RoleSpec) -> Sized[str]:
    """Return bytes on the disk with the kubelet's folder: emptyDirs, logs and the writable layer of the image.

    No more than that: a share of a disk that a node may not have would keep a pod from every node.
    """
    wanted = scratch(job) if role.trains else None
    there = on_local_disks(job, role)
    if there and (role.pool.local_disks is None or role.pool.local_disks.storage is None):
        return with_others(job, role, wanted, there)
    if wanted is None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs, /tmp and the image's writable layer")
    own = storage_of_scratch(job, role.pool)
    if own is not None:
        return Sized(binary(LAYER), f"{binary(LAYER)} for logs and /tmp; scratch is a volume of storage {own!r}")
    amount = binary(LAYER + size(wanted.size))
    return Sized(amount, f"{amount} = scratch of {wanted.size} + {binary(LAYER)} for logs, /tmp and the image's layer")


def with_others(job: Job, role: RoleSpec, wanted: Scratch | None, there: list[Sized[int]]) -> Sized[str]:
    """Return bytes of the same disk where checkpoints or staged data are on it too, in emptyDirs."""
    here = wanted if wanted is not None and storage_of_scratch(job, role.pool) is None else None
    amount = binary(LAYER + sum(one.value for one in there) + (size(here.size) if here else 0))
    parts = [f"{binary(one.value)} for {one.origin}" for one in there]
    parts += [f"scratch of {here.size}"] if here else []
    return Sized(amount, f"{amount} = {' + '.join(parts)} + {binary(LAYER)} for logs, /tmp and the image's layer")
