"""A pod wider than a NUMA node asks for no virtual functions that each tell one NUMA node, where the kubelet aligns.

Why: the functions of one NIC want the NIC's NUMA node, GPUs and CPUs want several; the kubelet takes only what all
 agree on, and refuses the pod on every node (TopologyAffinityError).
Fix: set excludeTopology: true in the SriovNetworkNodePolicies of such nodes, or use the policy best-effort.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go; sriov-network-device-plugin pkg/devices/api.go
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, World, aligning, rails

WIDE = 8
"""GPUs of servers in which they hang on more than one NUMA node."""


def check(world: World) -> Iterator[Problem]:
    """Hold the devices of pods with all GPUs of a server against the policies of kubelets that are not described.

    Of a cluster that is described, the kubelet's whole decision is asked for each job.
    """
    policy = aligning(world)
    if policy is None or world.inventory is not None:
        return
    telling = rails(world)
    for job in world.workloads():
        for pods in job.pod_sets():
            asked = pods.needs
            gpus = max((need.amount for name, need in asked.items() if name in WHOLE_GPUS), default=0)
            for name, need in asked.items() if gpus >= WIDE else ():
                if need.amount and name.rpartition("/")[2] in telling and "/" in name:
                    message = f"kubelets are {policy!r} and {name} tells one NUMA node; exclude its topology"
                    yield Problem(need.place, message)
                    break
