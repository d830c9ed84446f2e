"""CPUs, memory, shared memory and local disk of one pod, from its share of a node."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.companions import companions, taken_amount
from trainyard.render.sizing.machines import Available, available
from trainyard.render.sizing.node import GI, MI, binary, cpus_near, memory_near, pins_cpus, size
from trainyard.render.sizing.roles import WORKER, RoleSpec, number, share
from trainyard.specs import Job
from trainyard.specs.models.pools import Slack

SHARED_PER_PROCESS = 8 * GI
"""`/dev/shm` for one process: about 1 GiB for NCCL, the rest for the data loader's queues.

NCCL 2.30 user guide, troubleshooting, shared memory: containers' default of 64 MiB is too little.
"""

WHOLE_GI = 16 * GI
"""From this size on, bytes are rounded down to whole Gi, below to whole Mi."""


def cpus_of(
    job: Job,
    role: RoleSpec,
    neighbours: Sequence[RoleSpec] = (),
    daemons: Sequence[Mapping[str, Any]] = (),
    injected: Sequence[Mapping[str, Any]] = (),
) -> Sized[int]:
    """Return whole CPUs: the share of the node's, less what else has to run there, within the GPUs' NUMA nodes."""
    if role.cpus is not None:
        return Sized(role.cpus, role.source_of(job, "cpus_per_node"))
    node = available(role.pool)
    part, why = share(job, role, node)
    total, text = share_of(node.cpus, Fraction(slack(role).cpus), part, why, number)
    near = cpus_near(role.pool, role.gpus)
    if near is not None and near < total:
        total, text = near, f"{number(near)} on {numa_words(role, node)}"
    text = f"floor({text})"
    for others, whose in leftover_amounts(job, role, neighbours, "cpu", daemons, injected):
        total, text = total - others, f"{text} - {number(others)} of {whose}"
    count, threads = max(1, math.floor(total)), role.pool.node.threads_per_core
    if pins_cpus(role.pool) and count > threads and count % threads:
        count, text = count - count % threads, f"{text}, in whole cores of {threads}"
    return Sized(count, f"{count} = {text}")


def memory_of(
    job: Job,
    role: RoleSpec,
    neighbours: Sequence[RoleSpec] = (),
    daemons: Sequence[Mapping[str, Any]] = (),
    injected: Sequence[Mapping[str, Any]] = (),
) -> Sized[str]:
    """Return bytes: the share of the node's, less what else has to run there, within the GPUs' NUMA nodes."""
    if role.memory is not None:
        return Sized(role.memory, role.source_of(job, "memory_per_node"))
    node = available(role.pool)
    part, why = share(job, role, node)
    total, text = share_of(Fraction(node.memory), Fraction(size(slack(role).memory)), part, why, binary)
    near = memory_near(role.pool, role.gpus)
    if near is not None and near < total:
        total, text = near, f"{binary(near)} on {numa_words(role, node)}"
    for others, whose in leftover_amounts(job, role, neighbours, "memory", daemons, injected):
        total, text = total - others, f"{text} - {binary(others)} of {whose}"
    amount = spell(total)
    return Sized(amount, f"{amount} = {text}, rounded down")


def slack(role: RoleSpec) -> Slack:
    """Return the CPUs and the memory of a node that pods with GPUs leave to pods without."""
    return role.pool.slack if role.pool.slack is not None and role.gpus else Slack()


def share_of(
    has: Fraction, left: Fraction, part: Fraction, why: str, write: Callable[[Fraction], str]
) -> tuple[Fraction, str]:
    """Return a part of an amount of a node less its slack, and from what that follows."""
    text = f"{write(has)} for pods" if not left else f"({write(has)} for pods - {write(left)} of slack)"
    return max(Fraction(0), has - left) * part, text + (f" × {why}" if part < 1 else "")


def leftover_amounts(
    job: Job,
    role: RoleSpec,
    neighbours: Sequence[RoleSpec],
    resource: str,
    daemons: Sequence[Mapping[str, Any]] = (),
    injected: Sequence[Mapping[str, Any]] = (),
) -> list[tuple[Fraction, str]]:
    """Return the amounts of a node that a derived size leaves to others, each with its owner.

    To the job's containers, to daemons of the fabric in the pod, to containers that a provider's webhook adds, and to
    roles of the launcher's.

    The workers may fill every node of their pool, and a role that the launcher has of itself must find room there.
    """
    own = taken_amount(companions(job), resource) if role.name == WORKER else Fraction(0)
    amounts = [(own, "containers of the job"), (taken_amount(daemons, resource), "the fabric's daemon")]
    amounts.append((taken_amount(injected, resource), "the container that mounts buckets"))
    amounts += [(requested_of(other, resource), f"role {other.name!r}") for other in neighbours]
    return [(amount, whose) for amount, whose in amounts if amount]


def requested_of(role: RoleSpec, resource: str) -> Fraction:
    """Return how much of a resource one pod asks for of a role whose CPUs and memory are said."""
    if resource == "cpu":
        return Fraction(role.cpus or 0)
    return Fraction(size(role.memory or "0"))


def numa_words(role: RoleSpec, node: Available) -> str:
    """Return in words which NUMA nodes a pod has to do with."""
    return f"the NUMA nodes of {role.gpus}/{node.gpus} GPUs" if role.gpus else "one NUMA node"


def spell(amount: Fraction) -> str:
    """Write bytes as a quantity that people can read."""
    return binary(amount, step=GI if amount >= WHOLE_GI else MI)


def shared_memory_of(job: Job, role: RoleSpec, memory: Sized[str]) -> Sized[str]:
    """Return the size limit of `/dev/shm`, a part of the memory: tmpfs pages are charged to the container."""
    if job.shared_memory is not None and role.name == WORKER:
        return Sized(job.shared_memory, "sharedMemory of the job")
    wanted = SHARED_PER_PROCESS * max(1, role.processes.value)
    amount = binary(min(wanted, size(memory.value) // 4))
    return Sized(amount, f"{amount} = min({binary(wanted)} at 8Gi per process, a quarter of {memory.value})")
