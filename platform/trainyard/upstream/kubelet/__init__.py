"""The kubelet's decision, offline: what a node offers, which pods it takes, and what each container gets.

    kubelet = Kubelet.start(machine, configuration)   # or why it does not start: Invalid
    decision = kubelet.admit(pod)                     # a Pod's manifest
    kubelet.copy().admit(other)                       # what would be

Restated from kubernetes v1.35.4, and measured against it case by case (docs/nodes.md).
"""

from trainyard.upstream.kubelet.configuration import Configuration, Invalid, check
from trainyard.upstream.kubelet.kubelet import Decision, Kubelet
from trainyard.upstream.kubelet.machine import Cpu, Device, Machine, NumaNode
from trainyard.upstream.kubelet.outcomes import Admitted, Crashed, Exploded, Given, Outcome, Refused
from trainyard.upstream.pods.pod import Pod

__all__ = [
    "Admitted",
    "Configuration",
    "Cpu",
    "Crashed",
    "Decision",
    "Device",
    "Exploded",
    "Given",
    "Invalid",
    "Kubelet",
    "Machine",
    "NumaNode",
    "Outcome",
    "Pod",
    "Refused",
    "check",
]
