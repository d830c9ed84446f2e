"""No pod has the kubelet walk through more ways to align its devices than it can in a second.

Why: the kubelet tries every combination under the lock of admission; the node takes no pod any more for seconds to
 years, and stays Ready.
Fix: set excludeTopology: true wherever a machine has more than two NUMA nodes, or topologyManagerPolicy: none.
Source: kubernetes v1.35.4 pkg/kubelet/cm/topologymanager/policy.go iterateAllProviderTopologyHints
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Problem, World, kubelets, rails

MOST = 1_000_000
"""Combinations in about a second."""

WALKS = {"best-effort", "restricted"}
"""Policies that walk through them all; single-numa-node looks at single nodes alone."""


def check(world: World) -> Iterator[Problem]:
    """Count, where kubelets tell their NUMA nodes, the combinations of each pod's GPUs and NICs."""
    walking = [kubelet for kubelet in kubelets(world) if kubelet.text("topologyManagerPolicy") in WALKS]
    numa = max((item.numa_nodes for item in walking), default=0)
    telling = rails(world)
    if numa <= 2 or world.inventory is not None:
        return
    for job in world.workloads():
        for pods in job.pod_sets():
            asked = {name: need for name, need in pods.needs.items() if need.amount and "/" in name}
            nics = [name for name in asked if name.rpartition("/")[2] in telling]
            gpus = any(name in WHOLE_GPUS for name in asked)
            ways = 2 ** ((numa - 1) * len(nics)) * (2 ** (numa // 2) if gpus else 1)
            if nics and ways > MOST:
                message = f"{len(nics)} NICs on {numa} NUMA nodes are {ways:.0e} combinations; exclude their topology"
                yield Problem(asked[nics[0]].place, message)
