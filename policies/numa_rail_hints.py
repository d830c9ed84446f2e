"""A pod that spans NUMA nodes must not request NICs that report one NUMA node, if the kubelet aligns devices.

Why: Such a NIC needs its own NUMA node, but GPUs and CPUs need several. With topologyManagerPolicy restricted or
 single-numa-node the kubelet finds no common choice. It rejects the pod on every node (TopologyAffinityError).
Fix: set excludeTopology: true in the SriovNetworkNodePolicy of such nodes, or topologyManagerPolicy: best-effort.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go; sriov-network-device-plugin pkg/devices/api.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, World, aligning, rails

WIDE = 8
"""GPUs of a server that is assumed to have several NUMA nodes."""


def check(world: World) -> Iterator[Problem]:
    """Compare the devices of whole-node pods with the kubelets' policies, if the cluster is not described.

    For a described cluster, the preflight restates the kubelet's whole decision for each job.
    """
    policy = aligning(world)
    if policy is None or world.inventory is not None:
        return
    aligned = rails(world)
    for job in world.workloads():
        for pods in job.pod_sets():
            requested = pods.needs
            gpus = max((need.amount for name, need in requested.items() if name in WHOLE_GPUS), default=0)
            for name, need in requested.items() if gpus >= WIDE else ():
                if need.amount and name.rpartition("/")[2] in aligned and "/" in name:
                    message = (
                        f"{name} reports one NUMA node, so topologyManagerPolicy {policy!r} rejects the pod"
                        "; set excludeTopology: true"
                    )
                    yield Problem(need.place, message)
                    break
