"""A DaemonSet must not have QoS class Guaranteed where the kubelet pins memory and jobs span NUMA nodes.

Why: With memoryManagerPolicy: Static the kubelet pins the daemon's memory to one NUMA node. It never combines this NUMA
 node with others: every pod that spans NUMA nodes is rejected, on every node.
Fix: let a limit of the daemon differ from its request, or set memoryManagerPolicy: None.
Source: kubernetes v1.35.4 pkg/kubelet/cm/memorymanager/policy_static.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Place, Problem, Severity, World, is_guaranteed, kubelets

CONTROL_PLANE = {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}
"""Labels of nodes that run no jobs."""

WIDE = 8
"""GPUs of a server that is assumed to have several NUMA nodes."""


def check(world: World) -> Iterator[Problem]:
    """Check every DaemonSet if a kubelet pins memory; without a whole-node job it is only a warning."""
    pools = world.inventory.pools.values() if world.inventory else ()
    pinning = any(pool.kubelet and pool.kubelet.memory_manager_policy == "Static" for pool in pools)
    if not pinning and not any(kubelet.text("memoryManagerPolicy") == "Static" for kubelet in kubelets(world)):
        return
    weight = None if any(whole_servers(world)) else Severity.WARNING
    for daemon in world.of("DaemonSet", group="apps"):
        spec = daemon.get("spec", "template", "spec")
        if isinstance(spec, dict) and is_guaranteed(spec) and not CONTROL_PLANE & set(spec.get("nodeSelector") or ()):
            message = (
                "its pods are Guaranteed, so the kubelet rejects pods that span NUMA nodes"
                "; let a limit differ from its request"
            )
            path = ("spec", "template", "spec", "containers", 0, "resources")
            yield Problem(Place(daemon, path), message, severity=weight)


def whole_servers(world: World) -> Iterator[bool]:
    """Yield for each pod set of the training jobs whether its pods use all GPUs of a server."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            yield any(need.amount >= WIDE for name, need in pods.needs.items() if name in WHOLE_GPUS)
