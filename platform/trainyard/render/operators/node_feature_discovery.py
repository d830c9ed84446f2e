"""Node Feature Discovery by itself: one for all operators of the cluster, which then leave theirs out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, tolerations
from trainyard.render.operators.stated_values import check_tolerations, if_false, stated
from trainyard.render.sizing.software import nvidia_pools
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

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values by which nodes lose the labels that the GPU Operator selects them by."""
        if SELECTING in site.cluster.operators:
            why = f"{SELECTING} selects nodes by its labels; remove it"
            yield from if_false(site, {"worker.enable": why}, LABELS)
            yield from check_tolerations(site, "worker.tolerations", nvidia_pools(site.cluster), LABELS)
            yield from check_features(site, "")


SELECTING = "gpu-operator"
"""The operator that selects nodes by these labels; the network operator's come by a rule of its own chart."""

FIELDS = (["vendor"], ["class", "vendor"])
"""Names of labels by which the GPU Operator knows its nodes: `pci-10de.present` and `pci-0302_10de.present`."""

GPUS = "03"
"""PCI class of GPUs, which longer ones begin with."""

LABELS = "NVIDIA/gpu-operator v26.7.0 controllers/state_manager.go; node-feature-discovery v0.19.0 source/pci"


def check_features(site: Site, section: str) -> Iterator[Conflict]:
    """Yield settings of PCI labels by which nodes with GPUs get none that the GPU Operator knows."""
    pci = f"{section}worker.config.sources.pci"
    fields, listed = (stated(site, f"{pci}.{name}") for name in ("deviceLabelFields", "deviceClassWhitelist"))
    if isinstance(fields, list | tuple) and list(fields) not in FIELDS:
        message = f"{pci}.deviceLabelFields renames the label pci-10de.present, which GPU nodes need; remove it"
        yield Conflict(f"{pci}.deviceLabelFields", message, LABELS)
    if isinstance(listed, list | tuple) and not any(GPUS.startswith(str(one)[:2]) for one in listed):
        message = f"{pci}.deviceClassWhitelist has no class {GPUS}, so GPU nodes get no label; add '{GPUS}'"
        yield Conflict(f"{pci}.deviceClassWhitelist", message, LABELS)


OPERATOR = NodeFeatureDiscovery()
