"""A pod with a part of a node's GPUs names no NIC of its own, where the kubelet aligns.

Why: which GPUs are left is not known when the pod is written; beside a pod on the other socket its NICs and GPUs want
 different NUMA nodes, and the kubelet refuses it (TopologyAffinityError).
Fix: use whole nodes, or one resource for the virtual functions of all NICs.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go, with the second pod of a node
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, Severity, World, aligning, rails

SEVERITY = Severity.WARNING
WIDE = 8


def check(world: World) -> Iterator[Problem]:
    """Look for such pods where kubelets and virtual functions are among the objects, and nobody describes the nodes."""
    policy = aligning(world)
    telling = rails(world)
    if policy is None or world.inventory is not None or len(telling) < 2:
        return
    for job in world.workloads():
        for pods in job.pod_sets():
            asked = pods.needs
            gpus = max((need.amount for name, need in asked.items() if name in WHOLE_GPUS), default=0)
            for name, need in asked.items() if 0 < gpus < WIDE else ():
                if need.amount and "/" in name and name.rpartition("/")[2] in telling:
                    message = f"{name} is one NIC's, and kubelets are {policy!r}; a pod beside others gets far GPUs"
                    yield Problem(need.place, message)
                    break
