"""NVIDIA's driver for dynamic resource allocation: here for ComputeDomains, which span NVLink over nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, tolerations
from trainyard.render.operators.install import sites
from trainyard.render.operators.stated_values import check_tolerations, if_false, if_true
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

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield a second owner of GPUs, and what keeps the driver from nodes whose runs claim NVLink channels."""
        why = "the device plugin gives out the GPUs already; remove it"
        yield from if_true(site, {"resources.gpus.enabled": why}, CHART)
        spanning = {name: pool for name, pool in site.cluster.pools.items() if spans(site.cluster, pool)}
        if spanning:
            why = f"runs on pool {next(iter(spanning))!r} claim NVLink channels; remove it"
            yield from if_false(site, {"resources.computeDomains.enabled": why}, CHART)
        yield from check_tolerations(site, "kubeletPlugin.tolerations", spanning, CHART)


CHART = "NVIDIA/k8s-dra-driver-gpu v0.4.0 deployments/helm/dra-driver-nvidia-gpu/values.yaml"


def brings_driver(cluster: Cluster) -> bool:
    """Whether an operator of ours installs the driver of the GPUs in containers (GPU Operator documentation)."""
    return any(site.name == "gpu-operator" for site in sites(cluster))


OPERATOR = DraDriver()
