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
    modules: tuple[Text, ...] = ()
    """Kernel modules of a driver that the system installs and does not load by itself."""
    get_driver: Text = "choose an image for the nodes that brings it"
    """How nodes get a driver that the system installs."""
    get_driver_alone: Text | None = None
    """The same where the GPU Operator brings the device plugin; default: `getDriver`."""
    plugin_off: Text | None = None
    """Label of nodes, with its value, that do without the provider's own device plugin; default: it has none."""
    get_toolkit: Text = "choose an image for the nodes that brings it"
    """How nodes get a toolkit that the system installs."""
    get_amdgpu: Text = "install amdgpu-dkms in the node's image (ROCm documentation, installation by package manager)"
    """How nodes get AMD's driver."""
    get_fabric_manager: Text = "install `nvidia-fabricmanager` in the node's image, and enable its unit"
    """How nodes whose GPUs hang on NVSwitches get what starts these."""
    look_toolkit: Text = "`nvidia-ctk --version`, on a node"
    """How a person sees the toolkit."""
    look: Text = "`nvidia-smi --query-gpu=driver_version --format=csv,noheader`, on a node"
    """How a person sees the driver."""


class Modules(Spec):
    """Where a node is told of kernel modules; None: nobody can tell it."""

    load: Text | None = "/etc/modules-load.d"
    """Folder of files, or field, with the modules that are loaded when the node starts."""
    block: Text | None = "/etc/modprobe.d"
    """Folder of files, or field, with the modules that are not loaded for a device."""
    ipoib: Text | None = None
    """First release of the distribution whose kernel has IP over InfiniBand; default: every one."""


class Beside(Spec):
    """An operator that must be there too, where the distribution's own way installs one."""

    name: Text
    definition: Text
    """One of its CustomResourceDefinitions, as `plural.group`."""
    why: Text
    get: Text
    source: Text


class Refusal(Spec):
    """An operator that Trainyard does not install on the distribution."""

    why: Text
    """What the distribution does instead, as in `openshift has Multus of its own`."""
    instead: Text
    """What to write instead."""
    get: Text | None = None
    """How somebody else installs it there; default: as the distribution does, and `why`."""
    beside: tuple[Beside, ...] = ()
    """Operators that it needs then, and that nobody else brings."""
    source: Text


class NodeUpgrade(Spec):
    """How nodes get another minor version of Kubernetes, and what becomes of their pods."""

    by: Text = "a person"
    """Who takes the nodes out."""
    how: Text = "drains a node, replaces its kubelet and uncordons it, with `kubectl drain`"
    """What happens to a node, as it follows who does it."""
    drains: StrictBool = True
    """Whether the pods of a node are evicted; those without a PodDisruptionBudget always leave."""
    at_a_time: Amount | None = None
    """Nodes of a pool that are out at the same time by default; None: who does it decides."""
    minutes: Amount | None = None
    """Minutes after which a drain that does not end is given up; None: it goes on without end."""
    then: Text = "the node stays cordoned"
    """What happens then."""


class Distribution(Spec):
    """A distribution: runtime, folders, GPU software, kernel modules, security of pods, operators that it excludes."""

    title: Text
    version: Text | None = None
    """Release that files for nodes are written for where `system` names none; default: all releases read the same."""
    provider: Text | None = None
    """Cloud whose service it is, whose nodes are machines of that cloud; default: it runs anywhere."""
    runtime: Runtime = "containerd"
    brings_runtime: StrictBool = True
    """Whether the runtime is the distribution's, so that no other can be there."""
    kubelet_fields: tuple[Text, ...] | None = None
    """Fields of `kubelet` of a pool that its owners let one set; default: all."""
    pod_pids: Amount | None = None
    """Processes and threads that the distribution's kubelets allow a pod; default: no limit."""
    node_files: tuple[Literal["memlock", "udev", "disks"], ...] = ("memlock", "udev")
    """Settings that files for the nodes can make: no limit on locked memory, rules of udev, local disks under the
    kubelet's folder."""
    get_disks: Text = "join them to one file system, and mount it at the kubelet's folder before the kubelet starts"
    """How the kubelet's folder gets onto the local disks of a node, where no file does it."""
    modules: Modules = Modules()
    """Where kernel modules that a cluster needs, or must not load, are named."""
    keep_labels: Text | None = None
    """Where a label is written that a node has again when it joins anew; default: nowhere that is known."""
    pull: Text = "`crictl pull IMAGE`, on a node"
    """How a person sees that nodes can pull an image."""
    nic_driver: Literal["inbox"] | None = None
    """The only driver of NICs that its nodes can have; default: any."""
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
    privileged_constraint: Text | None = None
    """SecurityContextConstraints that admit privileged pods, which accounts of drivers must be bound to."""
    node_upgrade: NodeUpgrade = NodeUpgrade()
    """How nodes get another minor version of Kubernetes; default: a person drains them."""
    relabels_volumes: StrictBool = False
    """Whether each file of a volume gets the pod's SELinux label before a container starts."""
    critical_quota: StrictBool = False
    """Whether pods of system priority outside kube-system need a ResourceQuota for it."""
    excludes: dict[Name, Refusal] = {}
    """Operators that cannot be installed there by us, by name."""
    unprivileged: Refusal | None = None
    """Why no operator with privileged daemons can be installed there; default: they can."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def distributions() -> dict[str, Distribution]:
    """Return every distribution by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Distribution, "distribution")
