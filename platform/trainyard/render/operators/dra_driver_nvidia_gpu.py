"""NVIDIA's driver for dynamic resource allocation: here for ComputeDomains, which span NVLink over nodes."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster


class DraDriver(Operator):
    """The driver from its chart; GPUs themselves stay with the device plugin, since one card has one owner."""

    name = "dra-driver-nvidia-gpu"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the chart values: the resources, and the root of the driver, from the GPU Operator or the host."""
        root = "/run/nvidia/driver" if brings_driver(site.cluster) else "/"
        return {
            "nvidiaDriverRoot": root,
            "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        }


def brings_driver(cluster: Cluster) -> bool:
    """Whether an operator of ours installs the driver of the GPUs in containers (GPU Operator documentation)."""
    return any(site.name == "gpu-operator" for site in sites(cluster))


OPERATOR = DraDriver()
