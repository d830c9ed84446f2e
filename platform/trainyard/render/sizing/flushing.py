"""Checkpoints on local disks first: their room, and the containers that copy them to the volume."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.node import GI, MI, size
from trainyard.specs import Job, Pool
from trainyard.specs.models.job import Checkpoint, Flush
from trainyard.upstream.pods.pod import ALWAYS
from trainyard.upstream.pods.resources import CPU, MEMORY

RESTORE, KEEP = "restore-checkpoints", "flush-checkpoints"
"""Names of the containers: one ends before training, the other runs beside it."""

VOLUME = "local-checkpoints"
"""Name of the pod's volume on local disks."""

PROGRAM, PROGRAM_FOLDER, PROGRAM_FILE = "flush", "/etc/trainyard", "flush.py"
"""The volume with the program that both run, its folder in them, and the file's name."""

DURABLE = "/durable-checkpoints"
"""Where pods see the job's folder in the volume; training only reads there."""

RESOURCES = {CPU: "1500m", MEMORY: "2Gi"}
"""Of each: one process that copies and sums. No whole number, since a static CPU manager would tie it to cores."""

COPIES = 3
"""Checkpoints on a local disk at once: one is copied, one waits, one is being written."""

LOCAL = 2 * GI
"""Bytes per second that a node writes to its local disks (assumed: half of what one PCIe 4 NVMe disk writes)."""

FASTEST = 200 * MI
"""Bytes per second that one node copies at most: it reads, sums, writes and waits for the volume, in one process.

Measured: 390 MiB/s between folders in memory on a busy core; assumed half of it beside training.
"""

KEPT = 2
"""Checkpoints that the program keeps on the local disk of the first node."""


def flush_of(job: Job) -> Flush | None:
    """Return how a job copies checkpoints from local disks, or None where it saves to the volume itself."""
    return job.checkpoint.flush if job.checkpoint else None


def disk_of(job: Job) -> Sized[int] | None:
    """Return the bytes of local disk of each pod for checkpoints, or None."""
    flush, checkpoint = flush_of(job), job.checkpoint
    if flush is None or checkpoint is None:
        return None
    if flush.disk is not None:
        return Sized(size(flush.disk), f"checkpoint.flush.disk of {flush.disk}")
    amount = max(GI, math.ceil(COPIES * size(checkpoint.size) / job.nodes / MI) * MI)
    return Sized(amount, f"{COPIES} checkpoints of {checkpoint.size} over {job.nodes} nodes")


def storage_of_flush(job: Job, pool: Pool) -> str | None:
    """Return the storage that makes each pod a volume for checkpoints, or None where it is an emptyDir."""
    return pool.local_disks.storage if flush_of(job) is not None and pool.local_disks else None


def rate(flush: Flush) -> int:
    """Return the bytes per second that one node copies at most."""
    return min(FASTEST, size(flush.bandwidth)) if flush.bandwidth is not None else FASTEST


def containers(job: Job, folder: str = "") -> list[dict[str, Any]]:
    """Return the containers that restore and copy, for a job's folder in its volume; what they ask for needs none."""
    checkpoint = job.checkpoint
    if checkpoint is None or checkpoint.flush is None:
        return []
    shared = {
        "image": job.image_name,
        "env": variables(job, checkpoint, checkpoint.flush),
        "resources": {"limits": dict(RESOURCES)},
        "volumeMounts": [
            {"name": VOLUME, "mountPath": checkpoint.mount_path},
            {"name": f"claim-{checkpoint.volume}", "mountPath": DURABLE, "subPath": folder},
            {"name": PROGRAM, "mountPath": PROGRAM_FOLDER, "readOnly": True},
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    program = f"{PROGRAM_FOLDER}/{PROGRAM_FILE}"
    return [
        {"name": RESTORE, **shared, "command": ["python3", program, "restore"]},
        {"name": KEEP, **shared, "command": ["python3", program, "keep"], "restartPolicy": ALWAYS},
    ]


def variables(job: Job, checkpoint: Checkpoint, flush: Flush) -> list[Mapping[str, str]]:
    """Return the variables of both containers; the Job controller adds the index of the node."""
    values = {
        "FLUSH_LOCAL": checkpoint.mount_path,
        "FLUSH_DURABLE": DURABLE,
        "FLUSH_NODES": str(job.nodes),
        "FLUSH_KEEP": str(checkpoint.keep),
        "FLUSH_MARKER": flush.marker,
        "PYTHONUNBUFFERED": "1",
    }
    if flush.bandwidth is not None:
        values["FLUSH_BYTES_PER_SECOND"] = str(size(flush.bandwidth))
    return [{"name": name, "value": value} for name, value in values.items()]
