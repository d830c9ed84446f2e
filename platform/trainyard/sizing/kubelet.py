"""The kubelet's configuration of a pool: what is kept for the system, per NUMA node, so that the kubelet starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.documents import Path, format_path
from trainyard.findings import Finding
from trainyard.sizing.node import MI, binary, cores, numa_nodes, pins_cpus, reserved_cpus, size
from trainyard.specs import Cluster, Kubelet, Pool
from trainyard.specs.sources import Source

EVICTION = 100 * MI
"""Free memory below which the kubelet evicts by default (kubernetes v1.35 pkg/kubelet/eviction/defaults_linux.go)."""

MOST_NUMA_NODES = 8
"""NUMA nodes that the topology manager takes (kubernetes v1.35 pkg/kubelet/cm/topologymanager/topology_manager.go)."""


def configuration(pool: Pool, kubelet: Kubelet) -> dict[str, Any]:
    """Return the fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) for the nodes of a pool.

    What the shape reserves is kept as the named CPUs, the eviction threshold and the system's memory; for the memory
    manager the same sum is spread over the NUMA nodes, which it demands to the byte (kubernetes v1.35
    pkg/kubelet/cm/memorymanager/policy_static.go).
    """
    shape = pool.node
    kept = size(shape.reserved.memory)
    eviction = min(EVICTION, kept)
    fields: dict[str, Any] = {
        "cpuManagerPolicy": kubelet.cpu_manager_policy,
        "cpuManagerPolicyOptions": dict(kubelet.cpu_manager_policy_options) or None,
        "evictionHard": {
            "imagefs.available": "15%",
            "imagefs.inodesFree": "5%",
            "memory.available": amount(eviction),
            "nodefs.available": "10%",
            "nodefs.inodesFree": "5%",
        },
        "maxPods": kubelet.max_pods,
        "memoryManagerPolicy": kubelet.memory_manager_policy,
        "reservedSystemCPUs": cpu_list(reserved_cpus(pool)) or None,
        "systemReserved": {"memory": amount(kept - eviction)},
        "topologyManagerPolicy": kubelet.topology_manager_policy,
        "topologyManagerScope": kubelet.topology_manager_scope,
    }
    if kubelet.memory_manager_policy == "Static":
        fields["reservedMemory"] = [
            {"numaNode": index, "limits": {"memory": amount(part)}} for index, part in enumerate(memory_by_numa(pool))
        ]
    return fields


def memory_by_numa(pool: Pool) -> list[int]:
    """Return the bytes kept on each NUMA node: equal parts, the remainder on the first."""
    nodes = len(numa_nodes(pool.node))
    part, rest = divmod(size(pool.node.reserved.memory), nodes)
    return [part + (rest if index == 0 else 0) for index in range(nodes)]


def amount(count: int) -> str:
    """Write bytes as a quantity, exactly."""
    return binary(count, step=1024) if count and count % 1024 == 0 else str(count)


def cpu_list(cpus: Iterable[int]) -> str:
    """Write CPUs as the kubelet reads them: `0-1,56-57`."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield settings with which the kubelet would not start, or would refuse every pod; ids are the catalogue's."""
    for name, pool in cluster.pools.items():
        kubelet = pool.kubelet
        if kubelet is None:
            continue
        path: Path = ("pools", name, "kubelet")
        yield from check_cpus(pool, kubelet, source, path)
        if kubelet.memory_manager_policy == "Static" and size(pool.node.reserved.memory) < EVICTION:
            message = f"memoryManagerPolicy Static needs reserved memory, but the shape of {name!r} reserves too little"
            yield problem("numa-memory-mgr", message, source, (*path, "memoryManagerPolicy"))
        count = len(numa_nodes(pool.node))
        if kubelet.topology_manager_policy != "none" and count > MOST_NUMA_NODES:
            message = f"nodes have {count} NUMA nodes, but the topology manager takes {MOST_NUMA_NODES}; set it to none"
            yield problem("numa-max", message, source, (*path, "topologyManagerPolicy"))


def check_cpus(pool: Pool, kubelet: Kubelet, source: Source, path: Path) -> Iterator[Finding]:
    """Yield a static CPU manager without CPUs kept, half cores, options of no policy, and fewer CPUs than the shape."""
    kept = reserved_cpus(pool)
    field = "reservedSystemCPUs" if kubelet.reserved_cpus else "cpuManagerPolicy"
    if pins_cpus(pool) and not kept:
        message = "cpuManagerPolicy static needs CPUs kept for the system; name them in reservedSystemCPUs"
        yield problem("numa-guaranteed", message, source, (*path, "cpuManagerPolicy"))
    if kubelet.cpu_manager_policy_options and kubelet.cpu_manager_policy != "static":
        message = f"cpuManagerPolicy {kubelet.cpu_manager_policy!r} takes no options; remove them, or write static"
        yield problem("numa-full-pcpus", message, source, (*path, "cpuManagerPolicyOptions"))
    whole = kubelet.cpu_manager_policy_options.get("full-pcpus-only") == "true"
    threads = pool.node.threads_per_core
    if pins_cpus(pool) and whole and len(kept) % threads:
        message = f"reservedSystemCPUs keeps {len(kept)} CPUs, no whole cores of {threads} threads; keep both threads"
        yield problem("numa-full-pcpus", message, source, (*path, field))
    if kubelet.reserved_cpus and len(kept) < cores(pool.node.reserved.cpus):
        message = f"reservedSystemCPUs keeps {len(kept)} CPUs, but the shape reserves {pool.node.reserved.cpus}"
        yield problem("numa-guaranteed", message, source, (*path, field))


def problem(rule: str, message: str, source: Source, path: Path) -> Finding:
    """Return a finding at a kubelet setting."""
    return Finding(rule, "spec", message, source.location(path), path=format_path(path))
