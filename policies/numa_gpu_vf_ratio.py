"""A pod with only some GPUs of a node must not request a specific NIC if the kubelet aligns devices.

Why: Which GPUs of a node are free is not known in advance. If they are on another NUMA node than the NIC, the kubelet
 rejects the pod (TopologyAffinityError). This concerns topologyManagerPolicy restricted and single-numa-node.
Fix: request all GPUs of a node, or use one resource name for the virtual functions of all NICs.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go, with the second pod of a node
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, Severity, World, aligning, rails

SEVERITY = Severity.WARNING
WIDE = 8


def check(world: World) -> Iterator[Problem]:
    """Check pods if kubelets and SR-IOV policies are among the objects and the cluster is not described."""
    policy = aligning(world)
    aligned = rails(world)
    if policy is None or world.inventory is not None or len(aligned) < 2:
        return
    for job in world.workloads():
        for pods in job.pod_sets():
            requested = pods.needs
            gpus = max((need.amount for name, need in requested.items() if name in WHOLE_GPUS), default=0)
            for name, need in requested.items() if 0 < gpus < WIDE else ():
                if need.amount and "/" in name and name.rpartition("/")[2] in aligned:
                    message = (
                        f"{name} is one NIC; with topologyManagerPolicy {policy!r} the pod is rejected"
                        " if its GPUs are far from it"
                    )
                    yield Problem(need.place, message)
                    break
