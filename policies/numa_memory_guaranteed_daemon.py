"""No daemon is Guaranteed on nodes whose kubelet pins memory and that take jobs of all their NUMA nodes.

Why: the daemon's memory is pinned to one NUMA node, and that node is then no part of any group; every pod wider than
 one NUMA node is refused, on every node.
Fix: give the daemon's limits other amounts than its requests, or set memoryManagerPolicy: None.
Source: kubernetes v1.35.4 pkg/kubelet/cm/memorymanager/policy_static.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Problem, Severity, World, is_guaranteed, kubelets

CONTROL_PLANE = {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}
"""Labels of nodes on which no job runs."""

WIDE = 8
"""GPUs of servers in which they hang on more than one NUMA node."""


def check(world: World) -> Iterator[Problem]:
    """Look at every DaemonSet where a kubelet pins memory; without a job that wide it is only a warning."""
    pools = world.inventory.pools.values() if world.inventory else ()
    pinning = any(pool.kubelet and pool.kubelet.memory_manager_policy == "Static" for pool in pools)
    if not pinning and not any(kubelet.text("memoryManagerPolicy") == "Static" for kubelet in kubelets(world)):
        return
    weight = None if any(wide(world)) else Severity.WARNING
    for daemon in world.of("DaemonSet", group="apps"):
        spec = daemon.get("spec", "template", "spec")
        if isinstance(spec, dict) and is_guaranteed(spec) and not CONTROL_PLANE & set(spec.get("nodeSelector") or ()):
            message = "its pods are Guaranteed, so they take a NUMA node out of every wider job; make limits unequal"
            path = ("spec", "template", "spec", "containers", 0, "resources")
            yield Problem(Place(daemon, path), message, severity=weight)


def wide(world: World) -> Iterator[bool]:
    """Yield for each pod set of the training jobs whether its pods take all GPUs of a server."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            yield any(need.amount >= WIDE for name, need in pods.needs.items() if name in WHOLE_GPUS)
