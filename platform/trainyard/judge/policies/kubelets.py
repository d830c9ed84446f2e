"""Settings of the kubelets among the objects, and the virtual functions that report a NUMA node to them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.manifests import Manifest
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.world import World

KUBELET = "kubelet.config.k8s.io"
ALIGNING = frozenset({"restricted", "single-numa-node"})
"""Policies with which the kubelet rejects a pod whose devices, CPUs and memory need different NUMA nodes."""


@dataclass(frozen=True, slots=True)
class KubeletFile:
    """The settings of a kubelet, and where they are written."""

    manifest: Manifest
    path: tuple[str | int, ...] = ()

    @property
    def value(self) -> Mapping[str, Any]:
        """The settings, as fields of KubeletConfiguration."""
        found = self.manifest.get(*self.path)
        return found if isinstance(found, Mapping) else {}

    def text(self, name: str) -> str:
        """Return a setting that is a text; empty if it is missing."""
        found = self.value.get(name)
        return found if isinstance(found, str) else ""

    def place(self, name: str) -> Place:
        """Return the place of a setting."""
        return Place(self.manifest, (*self.path, name))

    @property
    def numa_nodes(self) -> int:
        """The number of NUMA nodes in reservedMemory; 0 if it is missing."""
        listed = self.value.get("reservedMemory")
        named = (
            [reservation.get("numaNode") for reservation in listed if isinstance(reservation, dict)]
            if isinstance(listed, list)
            else []
        )
        return max((node + 1 for node in named if type(node) is int), default=0)


def kubelets(world: World) -> list[KubeletFile]:
    """Return the settings of kubelets: files for nodes, and OpenShift's KubeletConfig."""
    files = [KubeletFile(manifest) for manifest in world.of("KubeletConfiguration", group=KUBELET)]
    openshift = world.of("KubeletConfig", group="machineconfiguration.openshift.io")
    return [*files, *(KubeletFile(manifest, ("spec", "kubeletConfig")) for manifest in openshift)]


def aligning(world: World) -> str | None:
    """Return a policy of the kubelets, if all of them align: the kubelet of a pod is unknown."""
    found = {kubelet.text("topologyManagerPolicy") for kubelet in kubelets(world)}
    return min(found) if found and found <= ALIGNING else None


def rails(world: World) -> dict[str, Manifest]:
    """Return the SR-IOV policies of resources whose virtual functions belong to one NIC and report its NUMA node.

    Keys are resource names without prefix. One resource per rail means one NIC per resource on every sort of node.
    """
    nics: dict[tuple[str, str], set[str]] = defaultdict(set)
    policies: dict[str, Manifest] = {}
    silent: set[str] = set()
    for policy in world.of("SriovNetworkNodePolicy"):
        name = policy.text("spec", "resourceName")
        chosen = [text for _, text in policy.at("spec", "nicSelector", "rootDevices", "*", of=str)]
        chosen += [text.partition("#")[0] for _, text in policy.at("spec", "nicSelector", "pfNames", "*", of=str)]
        nodes = json.dumps(policy.get("spec", "nodeSelector"), sort_keys=True, default=str)
        nics[name, nodes] |= set(chosen) or {"any", "other"}
        policies.setdefault(name, policy)
        if policy.get("spec", "excludeTopology") is True or policy.get("spec", "isRdma") is not True:
            silent.add(name)
    several = {name for (name, _), found in nics.items() if len(found) > 1}
    return {name: policy for name, policy in policies.items() if name and name not in several | silent}
