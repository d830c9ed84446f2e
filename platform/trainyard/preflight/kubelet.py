"""Whether the kubelets of a cluster's pools would start, and take pods, with the settings that its file gives them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding
from trainyard.preflight.limits import WHOLE_CORES
from trainyard.rules import Rule
from trainyard.sizing.kubelet import EVICTION
from trainyard.sizing.node import cores, numa_nodes, pins_cpus, reserved_cpus, size
from trainyard.specs import Cluster, Kubelet, Pool
from trainyard.specs.sources import Source

MOST_NUMA_NODES = 8
"""NUMA nodes that the topology manager takes (kubernetes v1.35 pkg/kubelet/cm/topologymanager/topology_manager.go)."""

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

MEMORY = Rule(
    id="numa-memory-mgr",
    title="A kubelet that pins memory keeps as much for the system as it evicts at.",
    why="the kubelet does not start: the memory kept on NUMA nodes must be reserved and eviction together, to the byte",
    fix="reserve more memory in the shape, or set memoryManagerPolicy: None",
    source=f"{KUBELET}/memorymanager/policy_static.go",
    layer="node",
)
MOST = Rule(
    id="numa-max",
    title="Nodes whose kubelet aligns devices have at most eight NUMA nodes.",
    why="the kubelet does not start",
    fix="set topologyManagerPolicy: none",
    source=f"{KUBELET}/topologymanager/topology_manager.go",
    layer="node",
)
RESERVED = Rule(
    id="numa-guaranteed",
    title="A kubelet that pins CPUs keeps as many for the system as the shape reserves.",
    why="without any it does not start; with fewer the node is counted larger than it is",
    fix="name the CPUs in reservedSystemCPUs",
    source=f"{KUBELET}/cpumanager/policy_static.go",
    layer="node",
)


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
            yield MEMORY.at(source, (*path, "memoryManagerPolicy"), message)
        count = len(numa_nodes(pool.node))
        if kubelet.topology_manager_policy != "none" and count > MOST_NUMA_NODES:
            message = f"nodes have {count} NUMA nodes, but the topology manager takes {MOST_NUMA_NODES}; set it to none"
            yield MOST.at(source, (*path, "topologyManagerPolicy"), message)


def check_cpus(pool: Pool, kubelet: Kubelet, source: Source, path: Path) -> Iterator[Finding]:
    """Yield a static CPU manager without CPUs kept, half cores, options of no policy, and fewer CPUs than the shape."""
    kept = reserved_cpus(pool)
    field = "reservedSystemCPUs" if kubelet.reserved_cpus else "cpuManagerPolicy"
    if pins_cpus(pool) and not kept:
        message = "cpuManagerPolicy static needs CPUs kept for the system; name them in reservedSystemCPUs"
        yield RESERVED.at(source, (*path, "cpuManagerPolicy"), message)
    if kubelet.cpu_manager_policy_options and kubelet.cpu_manager_policy != "static":
        message = f"cpuManagerPolicy {kubelet.cpu_manager_policy!r} takes no options; remove them, or write static"
        yield WHOLE_CORES.at(source, (*path, "cpuManagerPolicyOptions"), message)
    whole = kubelet.cpu_manager_policy_options.get("full-pcpus-only") == "true"
    threads = pool.node.threads_per_core
    if pins_cpus(pool) and whole and len(kept) % threads:
        message = f"reservedSystemCPUs keeps {len(kept)} CPUs, no whole cores of {threads} threads; keep both threads"
        yield WHOLE_CORES.at(source, (*path, field), message)
    if kubelet.reserved_cpus and len(kept) < cores(pool.node.reserved.cpus):
        message = f"reservedSystemCPUs keeps {len(kept)} CPUs, but the shape reserves {pool.node.reserved.cpus}"
        yield RESERVED.at(source, (*path, field), message)
