"""AMD GPU Operator: the chart without its DeviceConfig, and one DeviceConfig for each pool of AMD GPUs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.pools import selector_of
from trainyard.render.operators import amd_conflicts
from trainyard.render.operators.base import Conflict, Operator, Site, complete_sections, merge, tolerations
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.software import nvidia_pools
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.system import System
from trainyard.specs.releases.facts import lookup

AT_ONCE = {"force": True, "timeoutSeconds": 300, "gracePeriodSeconds": -1}

COMPLETIONS: Mapping[str, Mapping[str, Any]] = {
    "driver.upgradePolicy": {"maxParallelUpgrades": 3, "nodeDrainPolicy": AT_ONCE, "podDeletionPolicy": AT_ONCE},
    "metricsExporter": {"nodePort": 32500},
    "metricsExporter.prometheus.serviceMonitor": {"interval": "30s", "honorLabels": True},
}
"""Defaults of the chart that are not the operator's: they complete a section of which a cluster's file has a part.

Without a policy a driver is replaced under running pods (ROCm/gpu-operator v1.5.1 helm-charts-k8s/values.yaml,
internal/controllers/upgrademgr.go).
"""


class AmdGpuOperator(Operator):
    """The chart installs the operator; what it does to nodes stands in `hardware/` and is synced by hand."""

    name = "amd-gpu-operator"

    def values(self, _site: Site) -> dict[str, Any]:
        """Leave the DeviceConfig to us, and out what repairs nodes by itself: it brings a workflow engine along.

        Definitions are left to Argo CD, which renders them with the chart.
        """
        return {
            "crds": {"defaultCR": {"install": False, "upgrade": False}},
            "remediation": {"enabled": False, "installCRDs": False},
            "upgradeCRD": False,
        }

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that do not go with the DeviceConfigs."""
        found = pools(site.cluster)
        cut = {name: profile_name(name) for name, pool in found.items() if pool.partition is not None}
        yield from amd_conflicts.conflicts(site, {name: stated(site.cluster, name) for name in found}, cut)

    def hardware(self, site: Site) -> Iterator[Resource]:
        """Yield a DeviceConfig for each pool; the values' own `deviceConfig.spec` is merged over it."""
        own = lookup(site.choice.values, "deviceConfig.spec")
        for name, pool in pools(site.cluster).items():
            base = {**device_config(name, pool, site.components), "driver": driver(site.cluster, name)}
            said = own if isinstance(own, dict) else {}
            spec = merge(merge(base, complete_sections(said, COMPLETIONS)), {**said, **pull_secrets(site, said)})
            at = ("pools", name)
            if pool.partition is not None:
                yield profiles(site, name, pool)
            yield Resource("amd.com/v1alpha1", "DeviceConfig", name, at, site.facts.namespace, fields={"spec": spec})


def pull_secrets(site: Site, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the common part of a spec with the pull secrets of all images, if the values have any."""
    everywhere, common = lookup(site.choice.values, "global.imagePullSecrets"), said.get("commonConfig") or {}
    if not everywhere:
        return {}
    return {
        "commonConfig": {**common, "imageRegistrySecrets": [*everywhere, *(common.get("imageRegistrySecrets") or ())]}
    }


def pools(cluster: Cluster) -> dict[str, Pool]:
    """Return the pools with AMD GPUs."""
    found = {name: pool for name, pool in cluster.pools.items() if pool.node.gpus is not None}
    return {name: pool for name, pool in found.items() if pool.node.gpus and pool.node.gpus.vendor == "amd"}


def stated(cluster: Cluster, pool: str) -> System:
    """Return the system that the file states for an AMD pool: its own fields, else the cluster's.

    Beside NVIDIA's GPUs the cluster's installer and release are those of NVIDIA's driver, and count for no AMD pool.
    """
    own, shared = cluster.pools[pool].system, System() if nvidia_pools(cluster) else cluster.system
    return own.model_copy(
        update={
            "gpu_driver": own.gpu_driver or shared.gpu_driver,
            "gpu_driver_version": own.gpu_driver_version or shared.gpu_driver_version,
        }
    )


def driver(cluster: Cluster, pool: str) -> dict[str, Any]:
    """Return the section of the driver: none of ours unless the file asks for it.

    The kernel's own module is kept from loading. Nodes get another release when a person drains them (ROCm/gpu-operator
    v1.5.1 docs/drivers/installation.md, upgrading.md).
    """
    system = stated(cluster, pool)
    if system.gpu_driver != "operator":
        return {"enable": False}
    release = {"version": system.gpu_driver_version} if system.gpu_driver_version else {}
    return {"enable": True, "blacklist": True, **release, "upgradePolicy": {"enable": False}}


def device_config(name: str, pool: Pool, components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec without its driver: the device plugin, labels and metrics, past the pool's taints.

    Images are pinned: the chart's `latest` would be another one at every node that joins.
    """
    image = {part: found.get("image") for part, found in components.items()}
    past = tolerations([pool]) or None
    return {
        "selector": selector_of(name, pool.selector),
        "commonConfig": {"initContainerImage": image.get("init")},
        **manager(name, pool, components),
        "devicePlugin": {
            "devicePluginImage": image.get("devicePlugin"),
            "enableDevicePlugin": True,
            "enableNodeLabeller": True,
            "nodeLabellerImage": image.get("nodeLabeller"),
            "devicePluginTolerations": past,
            "nodeLabellerTolerations": past,
        },
        "metricsExporter": {
            "enable": True,
            "image": image.get("metricsExporter"),
            "serviceType": "ClusterIP",
            "tolerations": past,
        },
    }


def profile_name(pool: str) -> str:
    """Return the name of the ConfigMap with the modes of a pool's GPUs."""
    return f"trainyard-partition-{pool}"


def manager(name: str, pool: Pool, components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a DeviceConfig that sets the mode of GPUs; nodes get it once a person labels them."""
    if pool.partition is None:
        return {}
    image = components.get("configManager", {}).get("image")
    past = tolerations([pool]) or None
    config = {"name": profile_name(name)}
    return {"configManager": {"enable": True, "image": image, "config": config, "configManagerTolerations": past}}


def profiles(site: Site, name: str, pool: Pool) -> Resource:
    """Return the ConfigMap of the device config manager: a profile that has the pool's name.

    Source: ROCm/gpu-operator v1.5.1 docs/dcm/device-config-manager-configmap.md.
    """
    assert pool.partition is not None
    assert pool.node.gpus is not None
    cards = pool.node.gpus.count // pool.partition.parts
    modes = {"computePartition": pool.partition.compute, "memoryPartition": pool.partition.memory}
    profile = {"skippedGPUs": {"ids": []}, "profiles": [{**modes, "numGPUsAssigned": cards}]}
    text = json.dumps({"gpu-config-profiles": {name: profile}}, indent=2) + "\n"
    at, fields = ("pools", name, "partition"), {"data": {"config.json": text}}
    return Resource("v1", "ConfigMap", profile_name(name), at, site.facts.namespace, fields=fields)


OPERATOR = AmdGpuOperator()
