"""The scheduler's decision, offline: which node takes each pod, beside which others, and what its kubelet gives it.

    nodes = Nodes([Host("a-0", labels, taints, State(kubelet)), ...])
    found = nodes.place(wanted)                       # Placed, or what speaks against how many nodes

Filters and scores are those of kube-scheduler 1.35.4 (pkg/scheduler/framework/plugins); it may be asked for the fullest
node instead.
"""

from trainyard.upstream.scheduler.choice import SCHEDULERS, Choice
from trainyard.upstream.scheduler.hosts import Host, State, Step
from trainyard.upstream.scheduler.nodes import Nodes, Placed, Unplaced
from trainyard.upstream.scheduler.wanted import Wanted

__all__ = ["SCHEDULERS", "Choice", "Host", "Nodes", "Placed", "State", "Step", "Unplaced", "Wanted"]
