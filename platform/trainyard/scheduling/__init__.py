"""The scheduler's decision, offline: which node takes each pod, beside which others, and what its kubelet gives it.

    nodes = Nodes([Host("a-0", labels, taints, State(kubelet)), ...])
    found = nodes.place(wanted)                       # Placed, or what speaks against how many nodes

Filters are those of kube-scheduler 1.35.4 (pkg/scheduler/framework/plugins); of several nodes the fullest is taken.
"""

from trainyard.scheduling.hosts import Host, State, Step
from trainyard.scheduling.nodes import Nodes, Placed, Unplaced
from trainyard.scheduling.wanted import Wanted

__all__ = ["Host", "Nodes", "Placed", "State", "Step", "Unplaced", "Wanted"]
