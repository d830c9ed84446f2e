"""CPUs, memory, shared memory and local disk of one pod, from its share of a node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trainyard.sizing.base import Sized
from trainyard.sizing.node import GI, MI, Available, available, binary, cpus_near, memory_near, pins_cpus, size
from trainyard.sizing.wish import WORKER, Wish, companions, number, share, taken
from trainyard.specs import Job

SHARED_PER_PROCESS = 8 * GI
"""`/dev/shm` for one process: about 1 GiB for NCCL, the rest for the data loader's queues.

NCCL 2.30 user guide, troubleshooting, shared memory: containers' default of 64 MiB is too little.
"""

LAYER = 10 * GI
"""Local disk beside `scratch`: logs, `/tmp` and the image's writable layer."""

WHOLE_GI = 16 * GI
"""From this size on, bytes are rounded down to whole Gi, below to whole Mi."""


def processes_of(job: Job, wish: Wish) -> Sized[int]:
    """Return the processes that a launcher of many starts in one pod."""
    if job.processes_per_node is not None and wish.name == WORKER:
        return Sized(job.processes_per_node, "processesPerNode of the job")
    if wish.gpus:
        return Sized(wish.gpus, "one a GPU")
    return Sized(1, "one: no GPUs")


def cpus_of(job: Job, wish: Wish) -> Sized[int]:
    """Return whole CPUs: the share of the node's, less the job's own containers, within the GPUs' NUMA nodes."""
    if wish.cpus is not None:
        return Sized(wish.cpus, f"{wish.field}cpusPerNode of the job")
    node = available(wish.pool)
    part, why = share(job, wish, node)
    total, text = node.cpus * part, f"{number(node.cpus)} for pods" + (f" × {why}" if part < 1 else "")
    near = cpus_near(wish.pool, wish.gpus) if part < 1 or not wish.gpus else None
    if near is not None and near < total:
        total, text = near, f"{number(near)} on {numa_words(wish, node)}"
    others = taken(beside(job, wish), "cpu")
    text = f"floor({text})" + (f" - {number(others)} of the job's own containers" if others else "")
    count, threads = max(1, math.floor(total - others)), wish.pool.node.threads_per_core
    if pins_cpus(wish.pool) and count > threads and count % threads:
        count, text = count - count % threads, f"{text}, in whole cores of {threads}"
    return Sized(count, f"{count} = {text}")


def memory_of(job: Job, wish: Wish) -> Sized[str]:
    """Return bytes: the share of the node's, less the job's own containers, within the GPUs' NUMA nodes."""
    if wish.memory is not None:
        return Sized(wish.memory, f"{wish.field}memoryPerNode of the job")
    node = available(wish.pool)
    part, why = share(job, wish, node)
    total, text = node.memory * part, f"{binary(node.memory)} for pods" + (f" × {why}" if part < 1 else "")
    near = memory_near(wish.pool, wish.gpus) if part < 1 or not wish.gpus else None
    if near is not None and near < total:
        total, text = near, f"{binary(near)} on {numa_words(wish, node)}"
    others = taken(beside(job, wish), "memory")
    text += f" - {binary(others)} of the job's own containers" if others else ""
    amount = rounded(total - others)
    return Sized(amount, f"{amount} = {text}, rounded down")


def beside(job: Job, wish: Wish) -> list[Mapping[str, Any]]:
    """Return the containers that run beside the role's: the job's own stand in the workers' pods."""
    return companions(job) if wish.name == WORKER else []


def numa_words(wish: Wish, node: Available) -> str:
    """Return in words which NUMA nodes a pod has to do with."""
    return f"the NUMA nodes of {wish.gpus}/{node.gpus} GPUs" if wish.gpus else "one NUMA node"


def rounded(amount: Fraction) -> str:
    """Write bytes as a quantity that people can read."""
    return binary(amount, step=GI if amount >= WHOLE_GI else MI)


def shared_memory_of(job: Job, memory: Sized[str], processes: int) -> Sized[str]:
    """Return the size limit of `/dev/shm`, a part of the memory: tmpfs pages are charged to the container."""
    if job.shared_memory is not None:
        return Sized(job.shared_memory, "sharedMemory of the job")
    wanted = SHARED_PER_PROCESS * processes
    amount = binary(min(wanted, size(memory.value) // 4))
    return Sized(amount, f"{amount} = min({binary(wanted)}, 8Gi a process; a quarter of {memory.value})")


def storage_of(job: Job, wish: Wish) -> Sized[str]:
    """Return bytes of local disk: the share of the node's, at least `scratch` and 10Gi."""
    node = available(wish.pool)
    part, why = share(job, wish, node)
    amount = rounded(node.storage * part)
    least = LAYER + size(job.scratch) if job.scratch else 0
    if least > size(amount):
        return Sized(binary(least), f"{binary(least)} = scratch and 10Gi for logs and the image's writable layer")
    return Sized(
        amount, f"{amount} = {binary(node.storage)} for pods" + (f" × {why}" if part < 1 else "") + ", rounded down"
    )
