"""Pools of nodes: their shape, how their GPUs are cut, and how their kubelets are set."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, StrictBool, StrictStr, Tag, model_validator

from trainyard.base.quantities import Quantity
from trainyard.specs.models.base import (
    Amount,
    Count,
    CpuList,
    LabelKey,
    Labels,
    Name,
    Rate,
    Room,
    Spec,
    Text,
    named_once,
    validation_error,
)
from trainyard.specs.models.daemons import PoolDaemon, kept_share
from trainyard.specs.models.disks import LocalDisks
from trainyard.specs.models.gpus import Mig, Partition, Sharing
from trainyard.specs.models.kubernetes import Kubernetes
from trainyard.specs.models.scaling import NodeRange, Nodes, Reservation, Scaling
from trainyard.specs.models.system import System
from trainyard.specs.shapes import NicType, PciAddress, Shape, preset

NOTICE = 30
"""Seconds of notice where no shape says any, as on Azure (Azure Scheduled Events: Preempt); AWS gives 120."""

LOST = 0.13
"""466 interruptions of 2,048 nodes in 54 days, planned ones included (The Llama 3 Herd of Models, 3.3.4)."""

TAKEN = 3.0
"""Of spot nodes, assumed: one is taken away every ten days; providers say nothing that would hold."""

Shaped = Annotated[
    Annotated[Name, Tag("preset")] | Annotated[Shape, Tag("spelled out")],
    Discriminator(lambda value: "spelled out" if isinstance(value, (dict, Shape)) else "preset"),
]


def split_gpus(shape: Shape, parts: int) -> dict[str, Any]:
    """Return the GPUs of a shape and of its NUMA nodes, where each card shows itself as several GPUs."""
    if shape.gpus is None:
        return {}
    memory = Quantity.parse(shape.gpus.memory).amount / parts
    gpus = {"count": shape.gpus.count * parts, "memory": str(int(memory))}
    numa = tuple(
        node.model_copy(update={"gpus": tuple(card * parts + part for card in node.gpus for part in range(parts))})
        for node in shape.numa
    )
    return {"gpus": shape.gpus.model_copy(update=gpus), "numa": numa}


class Taint(Spec):
    """A taint of nodes; the pool's flavor tolerates it."""

    key: LabelKey
    """Key of the taint."""
    value: str = ""
    """Value of the taint; default: none."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """Effect on pods that do not tolerate the taint."""

    def tolerated(self) -> dict[str, str]:
        """Return the toleration of it, value included where it has one."""
        if self.value:
            return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect}
        return {"key": self.key, "operator": "Exists", "effect": self.effect}


CpuOptions = dict[
    Literal[
        "full-pcpus-only",
        "strict-cpu-reservation",
        "distribute-cpus-across-numa",
        "prefer-align-cpus-by-uncorecache",
        "align-by-socket",
        "distribute-cpus-across-cores",
    ],
    StrictStr,
]
"""Options of the static CPU manager (kubernetes v1.35 pkg/kubelet/cm/cpumanager/policy_options.go)."""


TopologyOptions = dict[Literal["prefer-closest-numa-nodes", "max-allowable-numa-nodes"], StrictStr]


class Kubelet(Spec):
    """Settings of the kubelet on a pool's nodes, named as in KubeletConfiguration v1beta1."""

    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = "none"
    """How strictly the kubelet keeps a pod's devices, CPUs and memory on the same NUMA nodes."""
    topology_manager_scope: Literal["container", "pod"] = "container"
    """Whether the kubelet chooses NUMA nodes for each container or for the whole pod."""
    cpu_manager_policy: Literal["none", "static"] = "none"
    """`static` gives CPUs of their own to containers with whole CPUs."""
    cpu_manager_policy_options: CpuOptions = {}
    """Options of the static CPU manager, with values as text: `{full-pcpus-only: "true"}`."""
    topology_manager_policy_options: TopologyOptions = {}
    """Options of the topology manager, with values as text."""
    memory_manager_policy: Literal["None", "Static"] = "None"
    """`Static` gives guaranteed pods memory of their NUMA nodes only."""
    reserved_cpus: CpuList | None = Field(default=None, alias="reservedSystemCPUs")
    """CPUs for the system, such as `0-1,64-65`; default: the first cores of every NUMA node, as many as the shape
    reserves."""
    max_pods: Count = 110
    """Largest number of pods on a node."""
    pod_pids_limit: Count | None = None
    """Largest number of processes and threads in a pod; default: 65536 where the distribution allows fewer, else the
    distribution's."""


DeviceAccess = Annotated[
    Annotated[Literal["open", "udev"], Tag("a way")]
    | Annotated[tuple[Amount, ...], Field(min_length=1), Tag("groups")],
    Discriminator(lambda value: "groups" if isinstance(value, (list, tuple)) else "a way"),
]


class Slack(Spec):
    """CPUs and memory of each node that derived sizes leave to pods without GPUs, such as launchers."""

    cpus: Amount = 0
    """Number of CPUs."""
    memory: Room = "0"
    """Bytes of memory."""


class Pool(Spec):
    """Nodes of one shape."""

    shape: Shaped
    """Name of a preset, or all fields of a shape."""
    node_counts: Nodes = Field(alias="nodes")
    """Number of nodes, or `{min: 0, max: 16}` of a pool that scales."""
    scaling: Scaling | None = None
    """Starting and removing of nodes, for a pool that scales; default: as the distribution does it."""
    reservation: Reservation | None = None
    """Capacity that the provider reserves for the pool until a date; default: none."""
    spares: Amount = 0
    """Number of nodes that quotas leave out, so that a run goes on when as many others have failed."""
    slack: Slack | None = None
    """CPUs and memory of each node that derived sizes leave to pods without GPUs; default: none."""
    racks: Count = 1
    """Number of racks; the nodes are split evenly over them."""
    blocks: Count = 1
    """Number of blocks; the racks are split evenly over them."""
    spot: StrictBool = False
    """Whether the provider takes nodes away at short notice."""
    notice_seconds: Count | None = None
    """Seconds between the notice and the end of a spot node; default: the shape's, else 30."""
    losses_per_month: Rate | None = None
    """How often one node fails, is drained or is taken away in 30 days; default: 0.13, or 3 for spot nodes."""
    price_per_gpu_hour: Rate | None = None
    """Price of one GPU for an hour, in any currency; the plan shows what new runs cost."""
    selector: Annotated[Labels, Field(min_length=1)] | None = None
    """Labels that all nodes of the pool have and no others, where others label the nodes, such as
    `{eks.amazonaws.com/nodegroup: h100}`; default: `trainyard.dev/pool`, with the pool's name."""
    labels: Labels = {}
    """Labels of the nodes in addition to those that select them."""
    taints: tuple[Taint, ...] = ()
    """Taints of the nodes, which the pool's flavor tolerates."""
    mig: Mig | None = None
    """How MIG splits the GPUs; default: GPUs stay whole."""
    sharing: Sharing | None = None
    """How several pods share each GPU; default: they do not."""
    partition: Partition | None = None
    """Mode of AMD GPUs; nodes, quotas and jobs then count the GPUs that cards become. Default: SPX with NPS1."""
    nvlink: Name | None = None
    """Level of the topology that is one NVLink domain, if NVLink connects several nodes."""
    kubernetes: Kubernetes | None = None
    """Minor version of the nodes' kubelets while they are older than the control plane, as text: "1.36"; default: the
    cluster's."""
    kubelet: Kubelet | None = None
    """Settings of the kubelet; leave it out where the provider configures the kubelet."""
    system: System = System()
    """Software of the pool's nodes, where it differs from the cluster's `system`."""
    disk: Room | None = None
    """Bytes of the file system with the kubelet's folder, for scratch, logs and images; default: the shape's."""
    local_disks: LocalDisks | None = None
    """Local disks for `scratch: {medium: nvme}`; default: none."""
    device_access: DeviceAccess | None = None
    """Access to the GPUs' device files: `open`, every user; `udev`, every user, by a udev rule that Trainyard
    renders for the nodes; or the IDs of the groups that own them, which pods then get. Most distributions restrict
    AMD's."""
    daemons: tuple[PoolDaemon, ...] = ()
    """Daemons that others run on every node of the pool; they replace the shape's assumption."""
    pci: Annotated[tuple[PciAddress, ...], AfterValidator(named_once)] = ()
    """PCI addresses of the NICs on these nodes, in the shape's order; default: the shape's."""
    interfaces: Annotated[tuple[Text, ...], AfterValidator(named_once)] = ()
    """Network devices of the NICs on these nodes, in the shape's order, such as `ens1f0np0`."""
    nic_type: NicType | None = None
    """PCI device ID of the NICs on these nodes; default: the shape's."""

    @property
    def nodes(self) -> int:
        """Number of nodes; of a pool that scales, the most that it can have."""
        return self.node_counts.max if isinstance(self.node_counts, NodeRange) else self.node_counts

    @property
    def lasting_nodes(self) -> int:
        """Number of nodes that are always there."""
        return self.node_counts.min if isinstance(self.node_counts, NodeRange) else self.node_counts

    @property
    def scales(self) -> bool:
        """Whether nodes of the pool come and go."""
        return isinstance(self.node_counts, NodeRange)

    @property
    def provisioning(self) -> str | None:
        """Class of the requests by which Kueue asks for nodes; None where it asks for none."""
        return self.scaling.provisioning if self.scales and self.scaling else None

    @property
    def start_minutes(self) -> int:
        """Minutes until a node is there that a pod waits for; 0 in a pool that does not scale."""
        return (self.scaling or Scaling()).start_minutes if self.scales else 0

    def tolerations(self) -> list[dict[str, str]]:
        """Return the tolerations of every taint of the nodes, value included where it has one."""
        return [taint.tolerated() for taint in self.taints]

    @property
    def notice(self) -> int | None:
        """Seconds that pods have when a node is taken away; None for nodes that are not."""
        return (self.notice_seconds or self.node.spot_notice or NOTICE) if self.spot else None

    @property
    def losses(self) -> float:
        """How many times in 30 days one node is lost."""
        if self.losses_per_month is not None:
            return self.losses_per_month
        return TAKEN if self.spot else LOST

    @cached_property
    def node(self) -> Shape:
        """The shape of one node, its NICs as the pool says them."""
        shape = self.shape if isinstance(self.shape, Shape) else preset(self.shape)
        known: dict[str, Any] = {}
        if self.kubelet_disk is not None:
            known["ephemeral_storage"] = self.kubelet_disk
        known |= self.named_nics(shape)
        if self.nic_type is not None:
            known["nic_type"] = self.nic_type
        if self.daemons:
            known["daemons"] = kept_share(self.daemons)
        if self.partition is not None:
            known |= split_gpus(shape, self.partition.parts)
        return shape.model_copy(update=known) if known else shape

    def named_nics(self, shape: Shape) -> dict[str, Any]:
        """Return the shape's NICs with the addresses and names that the pool says, where it says one for each."""
        said = {field: values for field, values in (("pci", self.pci), ("interface", self.interfaces)) if values}
        if not said or any(len(values) != len(shape.nics) for values in said.values()):
            return {}
        nics = (
            nic.model_copy(update={field: values[index] for field, values in said.items()})
            for index, nic in enumerate(shape.nics)
        )
        return {"nics": tuple(nics)}

    @property
    def device_groups(self) -> tuple[int, ...]:
        """Groups that a pod needs to open the GPUs' device files; none where every user may."""
        return self.device_access if isinstance(self.device_access, tuple) else ()

    @property
    def kubelet_disk(self) -> str | None:
        """Bytes of the file system with the kubelet's folder, where the pool says it: its own words, or local disks."""
        return self.disk or (self.local_disks.size if self.local_disks and self.on_local_disks else None)

    @property
    def on_local_disks(self) -> bool:
        """Whether the kubelet's folder is on the local disks of the nodes."""
        return self.local_disks is not None and self.local_disks.storage is None

    @model_validator(mode="after")
    def scaled(self) -> Pool:
        """Refuse settings of scaling where the number of nodes is fixed, and spot nodes that are reserved."""
        if self.scaling is not None and not self.scales:
            raise validation_error("one-of", "has scaling, but one number of nodes; write nodes: {min: 0, max: 16}")
        if self.spot and self.reservation is not None:
            raise validation_error(
                "one-of", "has spot and reservation, but reserved nodes are no spot nodes; remove one"
            )
        return self

    @model_validator(mode="after")
    def one_disk(self) -> Pool:
        """Refuse two sizes for the one disk with the kubelet's folder."""
        if self.disk is not None and self.on_local_disks:
            raise validation_error(
                "one-of", "has disk, and localDisks without storage, but both mean one disk; remove disk"
            )
        return self

    @model_validator(mode="after")
    def one_way(self) -> Pool:
        """Refuse GPUs that are both cut and shared: MPS takes no MIG devices (k8s-device-plugin v0.20.0 README.md)."""
        if self.mig is not None and self.sharing is not None:
            raise validation_error("one-of", "has both mig and sharing; remove one, or use two pools")
        return self
