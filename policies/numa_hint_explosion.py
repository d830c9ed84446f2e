"""A pod must not make the kubelet try more than a million combinations of NUMA nodes.

Why: The kubelet tries them all while it holds its admission lock. The node admits no pod for seconds, or even years,
 but stays Ready.
Fix: set excludeTopology: true in the SriovNetworkNodePolicy of machines with more than two NUMA nodes, or
 topologyManagerPolicy: none.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go iterateAllProviderTopologyHints
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, World, kubelets, rails

MOST = 1_000_000
"""Combinations in about a second."""

EXHAUSTIVE = {"best-effort", "restricted"}
"""Policies that try all combinations; single-numa-node tries only single nodes."""


def check(world: World) -> Iterator[Problem]:
    """Count the combinations for each pod's GPUs and NICs, if the kubelets' NUMA nodes are known."""
    exhaustive = [kubelet for kubelet in kubelets(world) if kubelet.text("topologyManagerPolicy") in EXHAUSTIVE]
    numa = max((item.numa_nodes for item in exhaustive), default=0)
    aligned = rails(world)
    if numa <= 2 or world.inventory is not None:
        return
    for job in world.workloads():
        for pods in job.pod_sets():
            requested = {name: need for name, need in pods.needs.items() if need.amount and "/" in name}
            nics = [name for name in requested if name.rpartition("/")[2] in aligned]
            gpus = any(name in WHOLE_GPUS for name in requested)
            ways = 2 ** ((numa - 1) * len(nics)) * (2 ** (numa // 2) if gpus else 1)
            if nics and ways > MOST:
                message = (
                    f"{len(nics)} NICs on {numa} NUMA nodes make more than 10^{len(str(ways)) - 1} combinations"
                    "; set excludeTopology: true"
                )
                yield Problem(requested[nics[0]].place, message)
