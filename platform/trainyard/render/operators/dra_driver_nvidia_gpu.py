"""NVIDIA's driver for dynamic resource allocation: here for ComputeDomains, which span NVLink over nodes."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site, tolerations
from trainyard.render.operators.install import sites
from trainyard.render.sizing.nvlink import spans
from trainyard.specs import Cluster

ALWAYS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""The one toleration of the chart, whose list Helm replaces (chart 0.4.0 values.yaml kubeletPlugin.tolerations)."""


class DraDriver(Operator):
    """The driver from its chart; GPUs themselves stay with the device plugin, since one card has one owner."""

    name = "dra-driver-nvidia-gpu"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the chart values: resources, tolerations, and the root of the driver (the GPU Operator or host)."""
        root = "/run/nvidia/driver" if brings_driver(site.cluster) else "/"
        own = tolerations(pool for pool in site.cluster.pools.values() if spans(site.cluster, pool))
        found = [toleration for toleration in own if toleration != ALWAYS]
        return {
            "nvidiaDriverRoot": root,
            **({"kubeletPlugin": {"tolerations": [ALWAYS, *found]}} if found else {}),
            "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        }


def brings_driver(cluster: Cluster) -> bool:
    """Whether an operator of ours installs the driver of the GPUs in containers (GPU Operator documentation)."""
    return any(site.name == "gpu-operator" for site in sites(cluster))


OPERATOR = DraDriver()
