"""A pod without GPUs must not have QoS class Guaranteed beside whole-node pods if the kubelet pins memory.

Why: With memoryManagerPolicy: Static a NUMA node serves pods within it or pods that span several, never both. The
 kubelet rejects the launcher or the worker, which neither Kueue nor the scheduler foresees.
Fix: remove the CPU limit of the small pod, select other nodes for it, or set memoryManagerPolicy: None.
Source: kubernetes v1.35.4 pkg/kubelet/cm/memorymanager/policy_static.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Pods, Problem, Severity, World, is_guaranteed, kubelets, selected_pools

SEVERITY = Severity.WARNING
WIDE = 8
"""GPUs of a server that is assumed to have several NUMA nodes."""


def check(world: World) -> Iterator[Problem]:
    """Find pod sets without GPUs that select the same nodes as a whole-node pod set of their job."""
    pinning = any(kubelet.text("memoryManagerPolicy") == "Static" for kubelet in kubelets(world))
    for job in world.training_jobs():
        sets = job.pod_sets()
        wide = [nodes(world, set_) for set_ in sets if whole_gpus(set_) >= WIDE]
        for pods in sets:
            if nodes(world, pods) not in wide or whole_gpus(pods) or not is_guaranteed(pods.spec):
                continue
            if is_pinned(world, pods) if world.inventory else pinning:
                message = (
                    "the kubelet rejects this Guaranteed pod, or the whole-node pods beside it; remove its CPU limit"
                )
                yield Problem(pods.place("spec", "containers", 0, "resources"), message)


def nodes(world: World, pods: Pods) -> tuple[object, tuple[str, ...]]:
    """Return the node selector of pods and the pools that they select."""
    return pods.spec.get("nodeSelector"), selected_pools(pods.spec, world.selectors)


def whole_gpus(pods: Pods) -> int:
    """Return the GPUs of one pod."""
    return int(max((need.amount for name, need in pods.needs.items() if name in WHOLE_GPUS), default=0))


def is_pinned(world: World, pods: Pods) -> bool:
    """Say whether the kubelets of a selected pool pin memory."""
    there = world.inventory.pools if world.inventory else {}
    kubelets = [there[name].kubelet for name in selected_pools(pods.spec, world.selectors) if name in there]
    return any(kubelet is not None and kubelet.memory_manager_policy == "Static" for kubelet in kubelets)
