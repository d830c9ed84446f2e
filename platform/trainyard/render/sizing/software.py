"""Consequences of a distribution for operators: who installs which GPU software, and CNI folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from trainyard.specs import Cluster, Pool
from trainyard.specs.distributions import Cni, Distribution, Installer, Refusal
from trainyard.specs.releases import release
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape


@dataclass(frozen=True, slots=True)
class GpuInstall:
    """Who installs NVIDIA's software on the nodes of a pool, and how the GPU Operator is told."""

    driver: Installer
    toolkit: Installer
    values: Mapping[str, Any]
    """Sections of the ClusterPolicy that follow."""


def gpu_install(facts: Distribution, driver: Installer) -> GpuInstall:
    """Return who installs what on nodes of a distribution whose driver comes from `driver`."""
    gpus = facts.gpus
    toolkit = driver if gpus.toolkit == "driver" else gpus.toolkit
    plugin = driver if gpus.device_plugin == "driver" else gpus.device_plugin
    environment = [{"name": name, "value": value} for name, value in gpus.toolkit_environment.items()]
    folder = gpus.driver_folder if driver == "system" else None
    values: dict[str, Any] = {
        "driver": {"enabled": driver == "operator"},
        "toolkit": {"enabled": toolkit == "operator"},
        "devicePlugin": {"enabled": plugin == "operator"},
    }
    if toolkit == "operator":
        values["toolkit"] |= {"env": environment} if environment else {}
        values["toolkit"] |= {"installDir": gpus.toolkit_folder} if gpus.toolkit_folder else {}
    elif gpus.runtime_class:
        values["operator"] = {"runtimeClass": gpus.runtime_class}
    if folder:
        values["hostPaths"] = {"driverInstallDir": folder}
    return GpuInstall(driver, toolkit, values)


def nvidia_pools(cluster: Cluster) -> dict[str, Pool]:
    """Return the pools with NVIDIA GPUs, by name."""
    known = {name: pool for name, pool in cluster.pools.items() if is_known_shape(pool.shape)}
    return {name: pool for name, pool in known.items() if pool.node.gpus and pool.node.gpus.vendor == "nvidia"}


def installs(cluster: Cluster) -> dict[str, GpuInstall]:
    """Return who installs what on each pool with NVIDIA GPUs, by the pool's name."""
    return {
        name: gpu_install(cluster.distribution_of(name), cluster.system_of(name).gpu_driver or "operator")
        for name in nvidia_pools(cluster)
    }


def cluster_install(cluster: Cluster) -> GpuInstall:
    """Return who installs what on the cluster: as its first pool with NVIDIA GPUs has it, else as its distribution.

    There is one ClusterPolicy for all nodes; pools that need different ones are refused (`pairing/one-gpu-install`).
    """
    facts = cluster.distribution
    return next(iter(installs(cluster).values()), gpu_install(facts, facts.gpus.driver[0]))


GPU_OPERATOR = "gpu-operator"

Part = Literal["driver", "toolkit", "devicePlugin"]


def installed_parts(cluster: Cluster, pool: str) -> frozenset[Part]:
    """Return the parts of NVIDIA's software that the cluster's GPU Operator installs on a pool.

    Values of the operator switch parts off that would follow from the distribution.
    """
    choice = cluster.operators.get(GPU_OPERATOR)
    if choice is None:
        return frozenset()
    follows = installs(cluster)[pool].values
    said = {part: lookup(choice.values, f"{part}.enabled") for part in PARTS}
    return frozenset(part for part in PARTS if follows[part]["enabled"] and said[part] is not False)


PARTS: tuple[Part, ...] = get_args(Part)


def is_foreign(facts: Distribution, operator: str) -> bool:
    """Whether an operator is for machines, or the service, of another cloud than the distribution's."""
    known = release(operator)
    if known is None or known.provider is None:
        return False
    return facts.provider != known.provider and (known.service_only or facts.provider is not None)


def refusal(facts: Distribution, operator: str) -> Refusal | None:
    """Return why an operator cannot be installed by us on nodes of a distribution, None where it can."""
    known = release(operator)
    if operator in facts.excludes:
        return facts.excludes[operator]
    if known is None:
        return None
    if is_foreign(facts, operator):
        what = "nodes of the service" if known.service_only else "machines"
        why = f"it is for {what} of {known.provider} alone"
        return Refusal(why=why, instead="remove it", source=known.sources.get("provider", "assumed"))
    return facts.unprivileged if known.pod_security == "privileged" else None


def cni(cluster: Cluster) -> Cni:
    """Return the folders for second networks on the nodes of a cluster."""
    return cluster.distribution.cni
