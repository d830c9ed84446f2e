"""NVIDIA's driver: one for the cluster, in its ClusterPolicy, or one for each pool, as an NVIDIADriver.

Facts: NVIDIA/gpu-operator v26.7.0 api/nvidia/v1alpha1/nvidiadriver_types.go, internal/state/driver.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.render.operators import gpu_values
from trainyard.render.operators.base import Site, merge, tolerations
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.software import installs
from trainyard.specs import Cluster, Pool
from trainyard.specs.releases.facts import lookup
from trainyard.upstream.pods.resources import NVIDIA_GPU

SHARED = ("gds", "gdrcopy")
"""Sections of the chart's values that an NVIDIADriver has under the same name."""


def by_pool(cluster: Cluster) -> bool:
    """Whether pools have drivers of their own: where the operator installs them and a pool names its release."""
    return any(
        install.driver == "operator" and cluster.pools[name].system.gpu_driver_version is not None
        for name, install in installs(cluster).items()
    )


def tolerate(pools: Iterable[Pool]) -> list[dict[str, Any]]:
    """Return tolerations for the taints of GPU pools, after the one that GPU nodes commonly have."""
    common = {"key": NVIDIA_GPU, "operator": "Exists", "effect": "NoSchedule"}
    return [common, *(toleration for toleration in tolerations(pools) if toleration != common)]


def version(site: Site, pool: str) -> str | None:
    """Return the release of the driver on the nodes of a pool; None where their image brings one that nobody names.

    The pool's own field counts first, then the cluster's, then the chart's value, then the operator's release.
    """
    own = site.cluster.system_of(pool).gpu_driver_version
    return own if own is not None or installs(site.cluster)[pool].driver == "system" else shared_version(site)


def shared_version(site: Site) -> str | None:
    """Return the release of the driver on pools that name none, as the ClusterPolicy has it."""
    said = site.cluster.system.gpu_driver_version or lookup(site.choice.values, "driver.version")
    return str(said or site.components.get("driver", {}).get("version") or "") or None


def modules(cluster: Cluster, pools: Iterable[str]) -> dict[str, Any]:
    """Return the kernel modules of the driver on some pools, and how it reaches the driver of NICs."""
    there = [name for name in pools if fabric_type(cluster).reaches(cluster, name)]
    drivers = {cluster.system_of(name).nic_driver for name in there}
    host = {"useHostMofed": True} if "doca" in drivers else {}
    rdma = {"enabled": bool(drivers & {"doca", "operator"}), **host}
    return {"kernelModuleType": "open" if there else "auto", "rdma": rdma}


def drivers(site: Site) -> Iterator[Resource]:
    """Yield an NVIDIADriver for each pool whose driver the operator installs, where pools have drivers of their own."""
    if not by_pool(site.cluster):
        return
    for name, install in installs(site.cluster).items():
        if install.driver == "operator":
            at = ("pools", name, "system", "gpuDriverVersion")
            yield Resource("nvidia.com/v1alpha1", "NVIDIADriver", name, at, fields={"spec": driver(site, name)})


def driver(site: Site, pool: str) -> dict[str, Any]:
    """Return the spec of a pool's NVIDIADriver; nodes get another release when a person drains them."""
    image, values = site.components["driver"], site.choice.values
    base: dict[str, Any] = {
        "default": False,
        "driverType": "gpu",
        "image": image["image"],
        "repository": image["repository"],
        "version": version(site, pool),
        "imagePullPolicy": "IfNotPresent",
        "nodeSelector": site.cluster.selector_of(pool),
        "tolerations": tolerate([site.cluster.pools[pool]]),
        "priorityClassName": "system-node-critical",
        "upgradePolicy": {"autoUpgrade": False},
        "manager": {**site.components["driverManager"], "imagePullPolicy": "IfNotPresent"},
        **modules(site.cluster, [pool]),
    }
    asked = {key: merge(component(site, key), values[key]) for key in SHARED if isinstance(values.get(key), Mapping)}
    return merge(merge(base, asked), gpu_values.nvidia_driver(values.get("driver")))


def component(site: Site, name: str) -> dict[str, Any]:
    """Return the image of a section, which an NVIDIADriver must name (nvidiadriver_types.go GetImagePath)."""
    return {**site.components.get(name, {}), "imagePullPolicy": "IfNotPresent"}
