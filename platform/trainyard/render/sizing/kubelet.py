"""The kubelet's configuration of a pool: what is kept for the system, per NUMA node, so that the kubelet starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.system.once import once
from trainyard.render.sizing.node import MI, binary, numa_nodes, reserved_cpus, size
from trainyard.specs import Kubelet, Pool
from trainyard.upstream.kubelet import sets

EVICTION = 100 * MI
"""Free memory below which the kubelet evicts by default (kubernetes v1.35 pkg/kubelet/eviction/defaults_linux.go)."""

DISK_EVICTION = {
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
"""Free disk below which the kubelet evicts by default (as above)."""


@once
def settings(pool: Pool) -> Mapping[str, Any]:
    """Return the kubelet's configuration: ours, or what a provider's keeps for the system, and no manager.

    Providers evict as the kubelet does by default, and tell the memory for that as reserved.
    """
    if pool.kubelet is not None:
        return {key: value for key, value in configuration(pool, pool.kubelet).items() if value is not None}
    kept, memory = pool.node.reserved, size(pool.node.reserved.memory)
    return {
        "evictionHard": thresholds(min(EVICTION, memory)),
        "maxPods": pool.node.max_pods,
        "systemReserved": {"cpu": kept.cpus, "memory": amount(max(0, memory - EVICTION))},
    }


def thresholds(memory: int) -> dict[str, str]:
    """Return the kubelet's eviction thresholds, given the bytes of memory; it refuses a threshold of zero."""
    found = {**DISK_EVICTION, **({"memory.available": amount(memory)} if memory else {})}
    return dict(sorted(found.items()))


def configuration(pool: Pool, kubelet: Kubelet) -> dict[str, Any]:
    """Return the fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) for the nodes of a pool.

    What the shape reserves is kept as the named CPUs, the eviction threshold and the system's memory; for the memory
    manager the same sum is spread over the NUMA nodes, which it demands to the byte (kubernetes v1.35
    pkg/kubelet/cm/memorymanager/policy_static.go). Nothing is kept for the kubelet beside it: drop-ins and patches are
    merged into what is there, and another amount of theirs would break that sum.
    """
    shape = pool.node
    kept = size(shape.reserved.memory)
    eviction = min(EVICTION, kept)
    fields: dict[str, Any] = {
        "cpuManagerPolicy": kubelet.cpu_manager_policy,
        "cpuManagerPolicyOptions": dict(kubelet.cpu_manager_policy_options) or None,
        "evictionHard": thresholds(eviction),
        "kubeReserved": {"memory": "0"},
        "maxPods": kubelet.max_pods,
        "memoryManagerPolicy": kubelet.memory_manager_policy,
        "podPidsLimit": kubelet.pod_pids_limit,
        "reservedSystemCPUs": sets.text(sets.mask(reserved_cpus(pool))) or None,
        "systemReserved": {"memory": amount(kept - eviction)},
        "topologyManagerPolicy": kubelet.topology_manager_policy,
        "topologyManagerPolicyOptions": dict(kubelet.topology_manager_policy_options) or None,
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
