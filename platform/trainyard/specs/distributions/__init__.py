"""Kubernetes distributions: what of a node's software is theirs, and where they keep it, as data with its source."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import StrictBool

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Amount, Name, Spec, Text

Runtime = Literal["containerd", "cri-o"]

Installer = Literal["operator", "system"]
"""Who installs a part of the GPU software: the GPU Operator, or the distribution and its node image."""


DEFAULT = "systemd"
"""The distribution of a cluster that names none."""

SERVICES = {"aws": "eks", "azure": "aks", "google": "gke-cos", "oracle": "oke"}
"""The usual distribution on machines of each cloud."""


class Cni(Spec):
    """Folders of a node that programs for second networks write to."""

    config: Text = "/etc/cni/net.d"
    """Folder with the configuration that the container runtime reads."""
    binaries: Text = "/opt/cni/bin"
    """Folder with the plugins that the container runtime runs."""
    namespaces: Text = "/run/netns"
    """Folder with the network namespaces of pods."""

    @property
    def is_usual(self) -> bool:
        """Whether plugins and their configuration are where charts expect them by default."""
        return (self.config, self.binaries) == (Cni().config, Cni().binaries)


class GpuSoftware(Spec):
    """Who installs NVIDIA's software on a node, and where it is."""

    driver: tuple[Installer, ...] = ("operator", "system")
    """Who can install the driver; the first is the default."""
    toolkit: Installer | Literal["driver"] = "operator"
    """Who installs the container toolkit; `driver`: the one who installs the driver."""
    device_plugin: Installer | Literal["driver"] = "operator"
    """Who installs the device plugin; `driver`: the one who installs the driver."""
    driver_folder: Text | None = None
    """Folder of a driver that the system installs; default: the root of the node."""
    toolkit_folder: Text | None = None
    """Folder that the toolkit is installed into; default: the operator's own."""
    toolkit_environment: dict[str, Text] = {}
    """Environment that the toolkit needs to configure the container runtime."""
    runtime_class: Text | None = None
    """RuntimeClass of a toolkit that the system installs; default: `nvidia`."""


class Refusal(Spec):
    """An operator that Trainyard does not install on the distribution."""

    why: Text
    """What the distribution does instead, as in `openshift has Multus of its own`."""
    instead: Text
    """What to write instead."""
    source: Text


class Distribution(Spec):
    """A distribution: container runtime, folders, GPU software, security of pods, and operators that it excludes."""

    title: Text
    provider: Text | None = None
    """Cloud whose service it is, whose nodes are machines of that cloud; default: it runs anywhere."""
    runtime: Runtime = "containerd"
    brings_runtime: StrictBool = True
    """Whether the runtime is the distribution's, so that no other can be there."""
    kubelet_fields: tuple[Text, ...] | None = None
    """Fields of `kubelet` of a pool that its owners let one set; default: all."""
    pod_pids: Amount | None = None
    """Processes and threads that the distribution's kubelets allow a pod; default: no limit."""
    node_files: tuple[Literal["memlock", "udev"], ...] = ("memlock", "udev")
    """Settings that files for the nodes can make: no limit on locked memory, rules of udev."""
    pods_in_node_network: StrictBool = False
    """Whether pods take their addresses from the network of the nodes."""
    node_block: Amount | None = None
    """Prefix length of each node's block of IPv4 pod addresses; default: the controller manager's."""
    autoscaler: Literal["karpenter", "cluster-autoscaler"] = "cluster-autoscaler"
    """Who starts nodes of a pool that scales and names nobody."""
    cni: Cni = Cni()
    gpus: GpuSoftware = GpuSoftware()
    security_constraint: Text | None = None
    """SecurityContextConstraints that admit a training pod with a user of its own, which accounts must be bound to."""
    relabels_volumes: StrictBool = False
    """Whether each file of a volume gets the pod's SELinux label before a container starts."""
    critical_quota: StrictBool = False
    """Whether pods of system priority outside kube-system need a ResourceQuota for it."""
    excludes: dict[Name, Refusal] = {}
    """Operators that cannot be installed there by us, by name."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def distributions() -> dict[str, Distribution]:
    """Return every distribution by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Distribution, "distribution")
