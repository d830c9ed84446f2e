"""Whether the kubelets of a cluster's pools would start, and take pods, with the settings that its file gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.base.versions import minor
from trainyard.judge.preflight.job.limits import WHOLE_CORES
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.kubelet import EVICTION
from trainyard.render.sizing.node import cores, numa_nodes, pins_cpus, reserved_cpus, size
from trainyard.specs import Cluster, Kubelet, Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

MOST_NUMA_NODES = 8
"""NUMA nodes that the topology manager takes (kubernetes v1.35 pkg/kubelet/cm/topologymanager/topology_manager.go)."""

NUMBER = re.compile(r"[0-9]{1,9}")
"""What Go reads as a number (strconv.Atoi), without a sign, and small enough for anybody."""

MAX_NUMA: Final = "max-allowable-numa-nodes"

BOOLEANS = frozenset({"1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"})
"""What Go reads as true or false (strconv.ParseBool)."""

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

MEMORY = Rule(
    id="numa-memory-mgr",
    title="A kubelet that pins memory reserves at least its eviction threshold.",
    why=(
        "the kubelet does not start unless the memory reserved on NUMA nodes equals system reservation plus "
        "eviction threshold"
    ),
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
    title="A kubelet that pins CPUs reserves as many CPUs as the shape says.",
    why="without reserved CPUs the kubelet does not start; with fewer, nodes offer CPUs that the shape reserves",
    fix="list the CPUs in reservedSystemCPUs",
    source=f"{KUBELET}/cpumanager/policy_static.go",
    layer="node",
)


OPTIONS = Rule(
    id="node/topology-options",
    title="Options of the topology manager have valid values.",
    why="the kubelet does not start",
    fix="use true or false for prefer-closest-numa-nodes, a number of at least 8 for max-allowable-numa-nodes",
    source=f"{KUBELET}/topologymanager/policy_options.go",
    layer="node",
)
RUNTIME = Rule(
    id="node/runtime",
    title="A distribution that brings its own container runtime has no system.runtime.",
    why="limits would be written for another runtime, and have no effect",
    fix="remove system.runtime",
    source="docs.k3s.io, docs.rke2.io, docs.siderolabs.com, awslabs/amazon-eks-ami nodeadm, OpenShift documentation",
    layer="node",
)


NEWER = Rule(
    id="node/newer-kubelet",
    title="No pool has a newer Kubernetes than its cluster.",
    why="a kubelet that is newer than the API server is not supported, and may not work",
    fix="remove `kubernetes` of the pool, or upgrade the control plane first",
    source="kubernetes.io version skew policy",
    layer="node",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield settings with which the kubelet would not start, or would refuse every pod; ids are the catalogue's."""
    for name, pool in cluster.pools.items():
        yield from check_runtime(cluster, name, source)
        if pool.kubernetes is not None and minor(pool.kubernetes) > minor(cluster.kubernetes):
            message = f"kubernetes of pool {name!r} is {pool.kubernetes!r}, but that of the cluster is older"
            yield NEWER.at(source, ("pools", name, "kubernetes"), f"{message}: {cluster.kubernetes!r}")
        kubelet = pool.kubelet
        if kubelet is None or not is_known_shape(pool.shape):
            continue
        path: Path = ("pools", name, "kubelet")
        yield from check_cpus(pool, kubelet, source, path)
        if kubelet.memory_manager_policy == "Static" and size(pool.node.reserved.memory) < EVICTION:
            message = f"memoryManagerPolicy Static needs more reserved memory than the shape of {name!r} has"
            yield MEMORY.at(source, (*path, "memoryManagerPolicy"), message)
        count = len(numa_nodes(pool.node)) + pool.node.gpu_numa
        most = most_numa_nodes(kubelet)
        if kubelet.topology_manager_policy == "none":
            continue
        if count > most:
            message = (
                f"nodes have {count} NUMA nodes, but the topology manager supports {most}; set "
                "topologyManagerPolicy: none"
            )
            yield MOST.at(source, (*path, "topologyManagerPolicy"), message)
        yield from check_options(kubelet, source, path)


def check_runtime(cluster: Cluster, name: str, source: Source) -> Iterator[Finding]:
    """Yield a container runtime that the pool's distribution does not have."""
    system = cluster.system_of(name)
    facts = cluster.distribution_of(name)
    brought = facts.runtime
    if facts.brings_runtime and system.runtime != brought:
        path: Path = ("pools", name, "system") if cluster.pools[name].system.runtime else ("system",)
        message = (
            f"runtime of {name!r} is {system.runtime!r}, but {system.distribution} has its own, {brought}; remove it"
        )
        yield RUNTIME.at(source, (*path, "runtime"), message)


def most_numa_nodes(kubelet: Kubelet) -> int:
    """Return how many NUMA nodes the topology manager takes with these settings."""
    said = kubelet.topology_manager_policy_options.get(MAX_NUMA, "")
    return int(said) if NUMBER.fullmatch(said) else MOST_NUMA_NODES


def check_options(kubelet: Kubelet, source: Source, path: Path) -> Iterator[Finding]:
    """Yield values of the topology manager's options that the kubelet does not take."""
    for name, value in kubelet.topology_manager_policy_options.items():
        at = (*path, "topologyManagerPolicyOptions", name)
        if name == MAX_NUMA and (not NUMBER.fullmatch(value) or int(value) < MOST_NUMA_NODES):
            yield OPTIONS.at(source, at, f"{name} is {value!r}, but must be a number of at least {MOST_NUMA_NODES}")
        elif name != MAX_NUMA and value not in BOOLEANS:
            yield OPTIONS.at(source, at, f"{name} is {value!r}, but must be 'true' or 'false'")


def check_cpus(pool: Pool, kubelet: Kubelet, source: Source, path: Path) -> Iterator[Finding]:
    """Yield a static CPU manager without CPUs kept, half cores, options of no policy, and fewer CPUs than the shape."""
    kept = reserved_cpus(pool)
    field = "reservedSystemCPUs" if kubelet.reserved_cpus else "cpuManagerPolicy"
    if pins_cpus(pool) and not kept:
        message = "cpuManagerPolicy static needs CPUs reserved for the system; set reservedSystemCPUs"
        yield RESERVED.at(source, (*path, "cpuManagerPolicy"), message)
    if kubelet.cpu_manager_policy_options and kubelet.cpu_manager_policy != "static":
        message = f"cpuManagerPolicy {kubelet.cpu_manager_policy!r} has no options; remove them, or use static"
        yield WHOLE_CORES.at(source, (*path, "cpuManagerPolicyOptions"), message)
    whole = kubelet.cpu_manager_policy_options.get("full-pcpus-only") == "true"
    threads = pool.node.threads_per_core
    there = set(range(pool.node.cpus))  # of others the kubelet says that it does not start
    if pins_cpus(pool) and whole and there.issuperset(kept) and len(kept) % threads:
        message = (
            f"reservedSystemCPUs has {len(kept)} CPUs, which are not whole cores of {threads} threads; list all "
            "threads of each core"
        )
        yield WHOLE_CORES.at(source, (*path, field), message)
    if kubelet.reserved_cpus and len(kept) < cores(pool.node.reserved.cpus):
        reserved = pool.node.reserved.cpus
        message = f"reservedSystemCPUs has {len(kept)} CPUs, but the shape reserves {reserved}; list more CPUs"
        yield RESERVED.at(source, (*path, field), message)
