"""No Guaranteed pod without GPUs is on the nodes of its job's pods of all GPUs, where the kubelet pins memory.

Why: a NUMA node is for pods within it or for wider ones, never for both; a launcher beside a worker is refused, or the
 worker beside it, and neither the scheduler nor Kueue sees that before.
Fix: leave the CPU limit of the small pod out, or select other nodes for it, or set memoryManagerPolicy: None.
Source: kubernetes v1.35.4 pkg/kubelet/cm/memorymanager/policy_static.go
"""

from collections.abc import Iterator

from trainyard.checks import POOL, WHOLE_GPUS, Pods, Problem, Severity, World, is_guaranteed, kubelets

SEVERITY = Severity.WARNING
WIDE = 8
"""GPUs of servers in which they hang on more than one NUMA node."""


def check(world: World) -> Iterator[Problem]:
    """Look for small pod sets that select the same nodes as a wide one of their job."""
    pinning = any(kubelet.text("memoryManagerPolicy") == "Static" for kubelet in kubelets(world))
    for job in world.training_jobs():
        sets = job.pod_sets()
        wide = [set_.spec.get("nodeSelector") for set_ in sets if whole_gpus(set_) >= WIDE]
        for pods in sets:
            if pods.spec.get("nodeSelector") not in wide or whole_gpus(pods) or not is_guaranteed(pods.spec):
                continue
            if pins(world, pods) if world.inventory else pinning:
                message = (
                    "a Guaranteed pod on the nodes of whole-node pods is refused beside them; leave its CPU limit out"
                )
                yield Problem(pods.place("spec", "containers", 0, "resources"), message)


def whole_gpus(pods: Pods) -> int:
    """Return how many GPUs each of the pods has."""
    return int(max((need.amount for name, need in pods.needs.items() if name in WHOLE_GPUS), default=0))


def pins(world: World, pods: Pods) -> bool:
    """Say whether the kubelets of the pool that the pods select pin memory."""
    selector = pods.spec.get("nodeSelector")
    pool = world.inventory.pools.get(selector.get(POOL)) if world.inventory and isinstance(selector, dict) else None
    return pool is not None and pool.kubelet is not None and pool.kubelet.memory_manager_policy == "Static"
