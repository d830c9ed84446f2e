"""Node Feature Discovery by itself: one for all operators of the cluster, which then leave theirs out."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site, tolerations
from trainyard.upstream.pods.resources import NVIDIA_GPU

CLASSES = ["02", "0200", "0207", "03", "0300", "0302", "0b40", "12"]
"""PCI classes that become labels: networks, displays, processing accelerators and co-processors.

Its own default has no networks, which NVIDIA's operators select nodes by (kubernetes-sigs/node-feature-discovery
v0.19.0 source/pci/pci.go; NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml node-feature-discovery).
"""

ALWAYS = [
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Equal", "value": "", "effect": "NoSchedule"},
    {"key": NVIDIA_GPU, "operator": "Exists", "effect": "NoSchedule"},
]
"""Taints that the charts of NVIDIA's operators let its worker tolerate."""


class NodeFeatureDiscovery(Operator):
    """The chart, with labels as the operators of NVIDIA and AMD expect them."""

    name = "node-feature-discovery"

    def values(self, site: Site) -> dict[str, Any]:
        """Name PCI devices by vendor alone, as `pci-10de.present`, and run on every node in spite of its taints."""
        pci = {"deviceClassWhitelist": CLASSES, "deviceLabelFields": ["vendor"]}
        own = [taint for taint in tolerations(site.cluster.pools.values()) if taint not in ALWAYS]
        return {
            "master": {"config": {"extraLabelNs": ["nvidia.com"]}},
            "worker": {"config": {"sources": {"pci": pci}}, "tolerations": [*ALWAYS, *own]},
        }


OPERATOR = NodeFeatureDiscovery()
