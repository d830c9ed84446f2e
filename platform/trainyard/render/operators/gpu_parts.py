"""How the GPU Operator is told of GPUs that are cut by MIG or shared: configurations by name, which labels choose.

Facts: NVIDIA/gpu-operator v26.7.0 api/nvidia/v1/clusterpolicy_types.go, controllers/object_controls.go;
NVIDIA/mig-parted v0.15.0 api/spec/v1; NVIDIA/k8s-device-plugin v0.20.0 api/config/v1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import dump
from trainyard.render.operators.base import Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.gpus import cut_gpus
from trainyard.specs import Cluster
from trainyard.specs.metrics import exporters
from trainyard.specs.models.gpus import Mig, Sharing
from trainyard.upstream.pods.resources import NVIDIA_GPU

LAYOUTS, SHARES, COUNTERS = "trainyard-mig", "trainyard-device-plugin", "trainyard-dcgm-metrics"
"""The ConfigMaps, beside the operator."""

WHOLE = "all-disabled"
"""Configuration of nodes without the label: the MIG manager looks it up by this name and by no other."""

PLAIN = "whole"
"""The device plugin's configuration of nodes without the label."""


def strategy(cluster: Cluster) -> str:
    """Return how the device plugin names MIG devices, for all nodes alike."""
    cut = [pool.mig.strategy for pool in cluster.pools.values() if pool.mig is not None]
    return cut[0] if cut else "single"


def of_manager(cluster: Cluster) -> dict[str, Any]:
    """Return the MIG manager's values: GPUs are whole unless a label says otherwise, as the chart has it.

    Without a default the operator labels no node, and GPUs that were cut earlier stay cut.
    """
    there = any(pool.mig is not None for pool in cluster.pools.values())
    return {"config": {"default": WHOLE, **({"name": LAYOUTS} if there else {})}}


def of_plugin(cluster: Cluster) -> dict[str, Any]:
    """Return the device plugin's values for a cluster with such pools."""
    there = any(pool.sharing is not None for pool in cluster.pools.values())
    return {"config": {"name": SHARES, "default": PLAIN}} if there else {}


def of_exporter(cluster: Cluster) -> dict[str, Any]:
    """Return dcgm-exporter's values: its own counters, and those that our alerts read where the cluster has some.

    By default it leaves out errors of memory and XIDs by number (dcgm-exporter 4.5.3-4.8.2
    etc/dcp-metrics-included.csv). Our own monitor reads it.
    """
    return {"config": {"name": COUNTERS}} if cluster.monitoring is not None else {}


def counters() -> str:
    """Return the counters that dcgm-exporter reads, as it takes them: name, type and what it counts."""
    table = exporters()["dcgm-exporter"].metrics
    lines = [f"{name}, {metric.type}, {metric.help}" for name, metric in table.items()]
    return "\n".join([*lines, "DCGM_FI_DRIVER_VERSION, label, driver version", ""])


def configurations(site: Site) -> Iterator[Resource]:
    """Yield the ConfigMaps: a configuration a pool, called as the pool, and one for all other nodes."""
    if site.cluster.monitoring is not None:
        data = {"data": {"dcgm-metrics.csv": counters()}}
        yield Resource("v1", "ConfigMap", COUNTERS, ("monitoring",), site.facts.namespace, fields=data)
    pools, namespace = site.cluster.pools, site.facts.namespace
    cut = {name: (pool.mig, pool.node.gpus) for name, pool in pools.items() if pool.mig is not None}
    shared = {name: pool.sharing for name, pool in pools.items() if pool.sharing is not None}
    if cut:
        layouts = {name: layout(mig, gpus.count if gpus else 0) for name, (mig, gpus) in cut.items()}
        whole = {WHOLE: [{"devices": "all", "mig-enabled": False}]}
        text = dump({"version": "v1", "mig-configs": {**whole, **layouts}})
        yield Resource("v1", "ConfigMap", LAYOUTS, ("pools",), namespace, fields={"data": {"config.yaml": text}})
    if shared:
        plain = {PLAIN: dump({"version": "v1"})}
        found = {name: dump({"version": "v1", "sharing": shares(sharing)}) for name, sharing in shared.items()}
        yield Resource("v1", "ConfigMap", SHARES, ("pools",), namespace, fields={"data": {**plain, **found}})


def layout(mig: Mig, count: int) -> list[dict[str, Any]]:
    """Return the MIG layout of a node's GPUs: those that are cut, and those that stay whole."""
    cut = sorted(cut_gpus(mig, count))
    whole = [index for index in range(count) if index not in cut]
    made: dict[str, Any] = {"mig-enabled": True, "mig-devices": dict(mig.layout)}
    if not whole:
        return [{"devices": "all", **made}]
    return [{"devices": cut, **made}, {"devices": whole, "mig-enabled": False}]


def shares(sharing: Sharing) -> dict[str, Any]:
    """Return how GPUs are shared: under a name of their own, so that nobody who wants a whole one gets a share.

    A pod that asks for two shares is refused, since both may be of one GPU.
    """
    resources = [{"name": NVIDIA_GPU, "replicas": sharing.replicas}]
    if sharing.by == "mps":
        return {"mps": {"renameByDefault": True, "resources": resources}}
    return {"timeSlicing": {"renameByDefault": True, "failRequestsGreaterThanOne": True, "resources": resources}}
