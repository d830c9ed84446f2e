"""The NUMA nodes of a shape and what hangs on each, the CPUs kept for the system, and amounts as they are written."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from trainyard.base.quantities import Quantity
from trainyard.base.system.once import once
from trainyard.specs import Pool
from trainyard.specs.shapes import Numa, Shape
from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.sets import members
from trainyard.upstream.pods.resources import HUGE_PAGES
from trainyard.upstream.pods.taints import Taint

GI = 2**30
MI = 2**20

ALIGNED = frozenset({"restricted", "single-numa-node"})
"""Topology manager policies that refuse a pod which is spread wider than it need be."""


def huge_pages(shape: Shape) -> dict[str, int]:
    """Return the bytes in huge pages by resource: equal parts of the NUMA nodes, in whole pages."""
    nodes = len(numa_nodes(shape))
    return {
        f"{HUGE_PAGES}{page}": size(total) // nodes // size(page) * size(page) * nodes
        for page, total in shape.huge_pages.items()
    }


def taints_of(pool: Pool) -> tuple[Taint, ...]:
    """Return the taints of a pool's nodes."""
    return tuple(Taint(taint.key, taint.value, taint.effect) for taint in pool.taints)


def reserved_cpus(pool: Pool) -> frozenset[int]:
    """Return the CPUs kept for the system: the pool's list, or the first cores of every NUMA node.

    As many as the shape reserves, in whole cores, the same number on every NUMA node, with their hyper-threads: Linux
    numbers the first threads of all cores of a socket, then the second ones.
    """
    if pool.kubelet and pool.kubelet.reserved_cpus:
        return cpu_set(pool.kubelet.reserved_cpus)
    shape = pool.node
    nodes = numa_nodes(shape)
    cores_each = math.ceil(cores(shape.reserved.cpus) / (len(nodes) * shape.threads_per_core))
    return first_cores(tuple(numa.cpus for numa in nodes), cores_each, shape.threads_per_core)


@lru_cache(maxsize=1024)
def first_cores(lists: tuple[str, ...], each: int, threads: int) -> frozenset[int]:
    """Return the first cores of every CPU list, with all their threads."""
    kept: set[int] = set()
    for cpus in (sorted(cpu_set(text)) for text in lists):
        stride = len(cpus) // threads
        for thread in range(threads):
            kept.update(cpus[thread * stride : thread * stride + each])
    return frozenset(kept)


def numa_nodes(shape: Shape) -> tuple[Numa, ...]:
    """Return the shape's NUMA nodes; a shape that lists none is one."""
    return shape.numa or (Numa(cpus=f"0-{shape.cpus - 1}", memory=shape.memory),)


@lru_cache(maxsize=4096)
def cpu_set(text: str) -> frozenset[int]:
    """Read a CPU list such as `0-55,112-167`."""
    return frozenset(members(parse(text)))


@lru_cache(maxsize=4096)
def cores(text: str) -> Fraction:
    """Return a quantity of CPUs as an exact number."""
    return Fraction(Quantity.parse(text).amount)


@lru_cache(maxsize=4096)
def size(text: str) -> int:
    """Return a quantity of bytes."""
    return Quantity.parse(text).value()


def binary(amount: float | Fraction | Decimal, *, step: int = MI) -> str:
    """Write bytes as a quantity, rounded down to a multiple of `step` (at least one)."""
    exact = Fraction(amount)
    return kibibytes(max(1, exact.numerator // (exact.denominator * step)) * step // 1024)


@lru_cache(maxsize=4096)
def kibibytes(count: int) -> str:
    """Write so many of them in the largest unit in which they are whole."""
    return Quantity.parse(f"{count}Ki").canonical()


def pins_cpus(pool: Pool) -> bool:
    """Whether the kubelet gives whole CPUs to pods of their own (CPU manager `static`)."""
    return pool.kubelet is not None and pool.kubelet.cpu_manager_policy == "static"


def pins_memory(pool: Pool) -> bool:
    """Whether the kubelet ties the memory of Guaranteed pods to NUMA nodes (memory manager `Static`)."""
    return pool.kubelet is not None and pool.kubelet.memory_manager_policy == "Static"


def whole_cores(pool: Pool) -> bool:
    """Whether the kubelet refuses containers whose whole CPUs are no whole cores; parts of a CPU are not pinned."""
    options = pool.kubelet.cpu_manager_policy_options if pool.kubelet else {}
    return pins_cpus(pool) and options.get("full-pcpus-only") == "true"


def aligns(pool: Pool) -> bool:
    """Whether the kubelet refuses pods that are spread wider than they need be."""
    return pool.kubelet is not None and pool.kubelet.topology_manager_policy in ALIGNED


def one_numa_node(pool: Pool) -> bool:
    """Whether the kubelet refuses pods that do not fit one NUMA node."""
    return pool.kubelet is not None and pool.kubelet.topology_manager_policy == "single-numa-node"


@once
def cpus_near(pool: Pool, gpus: int) -> Fraction | None:
    """Return how many CPUs a pod with that many GPUs finds on their NUMA nodes, or None where nothing is aligned.

    A pod that asks for more is refused under an aligning policy (kubernetes v1.35
    pkg/kubelet/cm/topologymanager/policy_restricted.go); without GPUs only where everything must be on one node.
    """
    if not pins_cpus(pool) or not aligns(pool):
        return None
    kept = reserved_cpus(pool)
    free = [(len(cpu_set(numa.cpus) - kept), len(numa.gpus)) for numa in numa_nodes(pool.node)]
    return near([(Fraction(count), there) for count, there in free], gpus, one=one_numa_node(pool))


def most_cpus_near(pool: Pool, gpus: int) -> int | None:
    """Return the most CPUs that the kubelet ever gives a pod beside that many GPUs, or None where nothing is aligned.

    CPUs and GPUs must come from the same NUMA nodes, as few as the GPUs take: here the richest of them.
    """
    if not pins_cpus(pool) or not aligns(pool) or not (gpus or one_numa_node(pool)):
        return None
    kept = reserved_cpus(pool)
    nodes = [numa for numa in numa_nodes(pool.node) if numa.gpus or not gpus]
    held, taken = 0, 0
    for count in sorted((len(numa.gpus) for numa in nodes), reverse=True):
        held, taken = (held + count, taken + 1) if held < gpus or not taken else (held, taken)
    return sum(sorted((len(cpu_set(numa.cpus) - kept) for numa in nodes), reverse=True)[:taken])


@once
def memory_near(pool: Pool, gpus: int) -> Fraction | None:
    """Return how many bytes a pod with that many GPUs finds on their NUMA nodes, or None where nothing is aligned.

    The system's memory is kept evenly on all NUMA nodes, as the kubelet configuration of the pool says.
    """
    if pool.kubelet is None or pool.kubelet.memory_manager_policy != "Static" or not aligns(pool):
        return None
    nodes = numa_nodes(pool.node)
    kept = Fraction(size(pool.node.reserved.memory), len(nodes))
    return near([(size(numa.memory) - kept, len(numa.gpus)) for numa in nodes], gpus, one=one_numa_node(pool))


def near(free: list[tuple[Fraction, int]], gpus: int, *, one: bool) -> Fraction | None:
    """Return the GPUs' part of what NUMA nodes have free, of the poorest of them, as amount and number of GPUs."""
    if gpus:
        return min((amount / there * gpus for amount, there in free if there), default=None)
    return min(amount for amount, _ in free) if one else None
