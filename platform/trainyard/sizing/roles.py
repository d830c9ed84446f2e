"""What the pods of one role ask for, from the job's fields and the node's shape."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trainyard.quantities import Quantity
from trainyard.sizing import fabric, nccl
from trainyard.sizing.base import RoleSize, Sized
from trainyard.sizing.node import (
    GI,
    MI,
    Available,
    available,
    binary,
    cores,
    cpus_near,
    memory_near,
    pins_cpus,
    size,
)
from trainyard.specs import Job, Pool, Role
from trainyard.specs.run import Run

WORKER = "worker"
"""The role that the job's own fields describe."""

SIDECAR_CPUS = "100m"
SIDECAR_MEMORY = "128Mi"
"""What a container of the job's own gets that asks for nothing: so Kueue counts it and the pod stays Guaranteed."""

SHARED_PER_PROCESS = 8 * GI
"""`/dev/shm` for one process: about 1 GiB for NCCL, the rest for the data loader's queues.

NCCL 2.30 user guide, troubleshooting, shared memory: containers' default of 64 MiB is too little.
"""

LAYER = 10 * GI
"""Local disk beside `scratch`: logs, `/tmp` and the image's writable layer."""

WHOLE_GI = 16 * GI
"""From this size on, memory is rounded down to whole Gi, below to whole Mi."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a job says about one role."""

    name: str
    pool_name: str
    pool: Pool
    nodes: int
    gpus: int
    cpus: int | None
    memory: str | None
    field: str
    """Where the job says it: empty for the worker, else `roles.<name>.`."""


def wishes(run: Run) -> list[Wish]:
    """Return the worker's wish and then one for each of the job's roles."""
    job, pools = run.job, run.cluster.pools
    gpus = job.gpus_per_node or int(job.gpu is not None)
    worker = Wish(WORKER, job.pool, pools[job.pool], job.nodes, gpus, job.cpus_per_node, job.memory_per_node, "")
    return [worker, *(_of_role(run, name, role) for name, role in job.roles.items())]


def _of_role(run: Run, name: str, role: Role) -> Wish:
    pool = role.pool or run.job.pool
    wanted = (role.nodes, role.gpus_per_node, role.cpus_per_node, role.memory_per_node)
    return Wish(name, pool, run.cluster.pools[pool], *wanted, field=f"roles.{name}.")


def size_role(run: Run, wish: Wish, *, pods: int) -> RoleSize:
    """Return what each pod of the role asks for; `pods` are all pods of the run."""
    job, node = run.job, available(wish.pool)
    part, why = share(job, wish, node)
    beside = companions(job) if wish.name == WORKER else []
    processes = processes_of(job, wish)
    memory = memory_of(wish, node, part, why, beside)
    rails = fabric.rails_of(run.cluster, wish.pool_name, wish.gpus) if wants_rdma(job, wish) else ()
    attach = run.cluster.fabric.attach if run.cluster.fabric else "none"
    return RoleSize(
        name=wish.name,
        pool=wish.pool_name,
        nodes=Sized(wish.nodes, f"{wish.field}nodes of the job"),
        processes=processes,
        gpus=Sized(wish.gpus, gpus_from(job, wish)),
        cpus=cpus_of(wish, node, part, why, beside),
        memory=memory,
        shared_memory=shared_memory_of(job, memory, processes.value),
        storage=storage_of(job, wish, node, part, why),
        devices=devices(job, wish) | {fabric.resource(run.cluster, rail): _one_a_rail(rail) for rail in rails},
        networks=tuple(fabric.network(rail) for rail in rails) if attach in fabric.SECONDARY else (),
        env=nccl.environment(run.cluster, wish.pool_name, rdma=bool(rails), pods=pods, gpus=wish.gpus),
    )


def _one_a_rail(rail: int) -> Sized[int]:
    return Sized(1, f"fabric: rdma; one NIC of rail {rail}")


def wants_rdma(job: Job, wish: Wish) -> bool:
    """Whether the role's pods get NICs of the fabric: those with GPUs, and the workers of a job without any."""
    return job.fabric == "rdma" and (wish.gpus > 0 or wish.name == WORKER)


def share(job: Job, wish: Wish, node: Available) -> tuple[Fraction, str]:
    """Return which part of a node one pod is meant to have, and in words why."""
    if not node.gpus:
        return Fraction(1), "whole node"
    if not wish.gpus:
        return Fraction(1, node.gpus), f"1/{node.gpus}, one GPU's share"
    whole = wish.gpus * slice_of(job, wish)
    return min(Fraction(1), whole / node.gpus), f"{wish.gpus}/{node.gpus} GPUs" if whole == wish.gpus else _parts(
        job, whole
    )


def _parts(job: Job, whole: Fraction) -> str:
    profile = job.gpu.profile if job.gpu else None
    return f"{whole.numerator}/{whole.denominator} GPU as {profile}"


def slice_of(job: Job, wish: Wish) -> Fraction:
    """Return the part of a GPU that one device is: `1g.10gb` is a seventh where the node counts whole GPUs."""
    gpus = wish.pool.node.gpus
    match = re.match(r"([1-7])g\.", (job.gpu.profile if job.gpu else None) or "")
    counted = gpus is not None and gpus.resource == gpu_resource(job, wish.pool)
    return Fraction(int(match[1]), 7) if match and not counted else Fraction(1)


def processes_of(job: Job, wish: Wish) -> Sized[int]:
    """Return the processes that a launcher of many starts in one pod."""
    if job.processes_per_node is not None and wish.name == WORKER:
        return Sized(job.processes_per_node, "processesPerNode of the job")
    if wish.gpus:
        return Sized(wish.gpus, "one a GPU")
    return Sized(1, "one: no GPUs")


def cpus_of(wish: Wish, node: Available, part: Fraction, why: str, beside: Iterable[Mapping[str, Any]]) -> Sized[int]:
    """Return whole CPUs: the share of the node's, less the job's own containers, within the GPUs' NUMA nodes."""
    if wish.cpus is not None:
        return Sized(wish.cpus, f"{wish.field}cpusPerNode of the job")
    total = node.cpus * part
    text = f"floor({_number(node.cpus)} for pods × {why})" if part < 1 else f"floor({_number(node.cpus)} for pods)"
    near = cpus_near(wish.pool, wish.gpus) if part < 1 or not wish.gpus else None
    if near is not None and near < total:
        total, text = near, f"floor({_number(near)} on {numa_words(wish)})"
    others = sum((cores(resources(container)["cpu"]) for container in beside), Fraction(0))
    if others:
        total, text = total - others, f"{text} - {_number(others)} of the job's own containers"
    count = max(1, math.floor(total))
    threads = wish.pool.node.threads_per_core
    if pins_cpus(wish.pool) and count > threads and count % threads:
        count, text = count - count % threads, f"{text}, in whole cores of {threads}"
    return Sized(count, f"{count} = {text}")


def numa_words(wish: Wish) -> str:
    """Return in words which NUMA nodes a pod has to do with."""
    return f"the NUMA nodes of {wish.gpus}/{available(wish.pool).gpus} GPUs" if wish.gpus else "one NUMA node"


def memory_of(wish: Wish, node: Available, part: Fraction, why: str, beside: Iterable[Mapping[str, Any]]) -> Sized[str]:
    """Return bytes: the share of the node's, less the job's own containers, within the GPUs' NUMA nodes."""
    if wish.memory is not None:
        return Sized(wish.memory, f"{wish.field}memoryPerNode of the job")
    total: Fraction = node.memory * part
    text = f"{binary(node.memory)} for pods × {why}" if part < 1 else f"{binary(node.memory)} for pods"
    near = memory_near(wish.pool, wish.gpus) if part < 1 or not wish.gpus else None
    if near is not None and near < total:
        total, text = near, f"{binary(near)} on {numa_words(wish)}"
    others = sum(size(resources(container)["memory"]) for container in beside)
    if others:
        total, text = total - others, f"{text} - {binary(others)} of the job's own containers"
    amount = binary(total, step=GI if total >= WHOLE_GI else MI)
    return Sized(amount, f"{amount} = {text}, rounded down")


def shared_memory_of(job: Job, memory: Sized[str], processes: int) -> Sized[str]:
    """Return the size limit of `/dev/shm`, a part of the memory: tmpfs pages are charged to the container."""
    if job.shared_memory is not None:
        return Sized(job.shared_memory, "sharedMemory of the job")
    wanted = SHARED_PER_PROCESS * processes
    amount = binary(min(wanted, size(memory.value) // 4))
    return Sized(amount, f"{amount} = min({binary(wanted)}, 8Gi a process; a quarter of {memory.value})")


def storage_of(job: Job, wish: Wish, node: Available, part: Fraction, why: str) -> Sized[str]:
    """Return bytes of local disk: the share of the node's, at least `scratch` and 10Gi."""
    if not node.gpus and wish.cpus is not None and node.cpus > 0:
        part = min(Fraction(1), wish.cpus / node.cpus)
        why = f"{wish.cpus}/{_number(node.cpus)} CPUs"
    total = node.storage * part
    amount = binary(total, step=GI if total >= WHOLE_GI else MI)
    text = f"{amount} = {binary(node.storage)} for pods × {why}, rounded down"
    least = LAYER + size(job.scratch) if job.scratch else 0
    if least > size(amount):
        amount = binary(least)
        text = f"{amount} = scratch and 10Gi for logs and the image's writable layer"
    return Sized(amount, text)


def devices(job: Job, wish: Wish) -> dict[str, Sized[int]]:
    """Return the role's GPUs as an extended resource, or nothing."""
    if not wish.gpus or wish.pool.node.gpus is None:
        return {}
    return {gpu_resource(job, wish.pool): Sized(wish.gpus, gpus_from(job, wish))}


def gpus_from(job: Job, wish: Wish) -> str:
    """Return in words where the number of GPUs comes from."""
    return (
        "gpu of the job: one part of a GPU"
        if job.gpu and wish.name == WORKER
        else f"{wish.field}gpusPerNode of the job"
    )


def gpu_resource(job: Job, pool: Pool) -> str:
    """Return the resource that a job's GPUs, or parts of GPUs, are requested as.

    NVIDIA k8s-device-plugin v0.20.0: `nvidia.com/mig-1g.10gb` under strategy mixed, `nvidia.com/gpu.shared` with
    renameByDefault; AMD's device plugin names a partition `amd.com/cpx_nps4`.
    """
    gpus = pool.node.gpus
    if gpus is None:
        return "nvidia.com/gpu"
    vendor = gpus.resource.partition("/")[0]
    if job.gpu and job.gpu.profile and not gpus.resource.endswith(job.gpu.profile):
        return f"{vendor}/{'mig-' if gpus.vendor == 'nvidia' else ''}{job.gpu.profile}"
    if job.gpu and job.gpu.shared and not gpus.resource.endswith(".shared"):
        return f"{gpus.resource}.shared"
    return gpus.resource


def companions(job: Job) -> list[Mapping[str, Any]]:
    """Return the job's own containers that run beside the training one; others have ended when it begins."""
    sidecars = [each for each in job.init_containers if each.get("restartPolicy") == "Always"]
    return [*job.containers, *sidecars]


def resources(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the limits of a container of the job's own, CPU and memory filled in; requests are made equal."""
    given = container.get("resources")
    given = given if isinstance(given, Mapping) else {}
    merged: dict[str, Any] = {"cpu": SIDECAR_CPUS, "memory": SIDECAR_MEMORY}
    for name in ("requests", "limits"):
        part = given.get(name)
        merged |= part if isinstance(part, Mapping) else {}
    return {name: _canonical(value) for name, value in merged.items()}


def _canonical(value: Any) -> str:
    try:
        return Quantity.parse(value).canonical()
    except (ValueError, TypeError, AttributeError):
        return "0"


def _number(amount: Fraction) -> str:
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.4g}"
