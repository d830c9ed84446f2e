"""NVIDIA's driver for dynamic resource allocation: here for ComputeDomains, which span NVLink over nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, tolerations
from trainyard.render.operators.stated_values import check_tolerations, if_false, if_true
from trainyard.render.sizing.nvlink import spans
from trainyard.render.sizing.software import installed_parts, nvidia_pools
from trainyard.specs import Cluster
from trainyard.upstream.pods.resources import NVIDIA_GPU

ALWAYS = {"key": NVIDIA_GPU, "operator": "Exists", "effect": "NoSchedule"}
"""The one toleration of the chart, whose list Helm replaces (chart 0.4.0 values.yaml kubeletPlugin.tolerations)."""


class DraDriver(Operator):
    """The driver from its chart; GPUs themselves stay with the device plugin, since one card has one owner."""

    name = "dra-driver-nvidia-gpu"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the chart values: resources, tolerations, and the root of the driver."""
        own = tolerations(pool for pool in site.cluster.pools.values() if spans(site.cluster, pool))
        found = [toleration for toleration in own if toleration != ALWAYS]
        return {
            "nvidiaDriverRoot": driver_root(site.cluster),
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


CONTAINER = "/run/nvidia/driver"
"""Root of a driver that the GPU Operator installs (NVIDIA/cloud-native-docs gpu-operator, driver container)."""


def driver_root(cluster: Cluster) -> str:
    """Return the folder of a node with the GPUs' driver: the operator's, the distribution's, else the node's root.

    Source: kubernetes-sigs/dra-driver-nvidia-gpu v0.4.0 site/content/docs/install.md, which names GKE's.
    """
    pools = nvidia_pools(cluster)
    if any("driver" in installed_parts(cluster, name) for name in pools):
        return CONTAINER
    return next((cluster.distribution_of(name).gpus.driver_folder for name in pools), None) or "/"


OPERATOR = DraDriver()
