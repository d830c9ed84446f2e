"""A cluster: an inventory of nodes, fabric and storage, and the choices made on it."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)
from typing_extensions import TypedDict

from trainyard.labels import HOSTNAME
from trainyard.specs.drivers import Access, Driver, Ownership, driver
from trainyard.specs.models.base import (
    Amount,
    Cidr,
    Count,
    CpuList,
    Form,
    Labels,
    Name,
    Rate,
    Reason,
    Size,
    Spec,
    SubdomainName,
    Text,
    Version,
    Waive,
    named_once,
    wrong,
)
from trainyard.specs.models.daemons import PoolDaemon, kept
from trainyard.specs.models.disks import LocalDisks
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.gpus import Mig, Sharing
from trainyard.specs.models.pipelines import Pipelines
from trainyard.specs.models.system import System, resolved
from trainyard.specs.shapes import PciAddress, Shape, preset
from trainyard.versions import line

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
Priority = Annotated[StrictInt, Field(ge=-(2**31), le=2**31 - 1)]


class Destination(Spec):
    """The cluster as Argo CD knows it: by name or by address."""

    name: Text | None = None
    server: Text | None = None

    @model_validator(mode="after")
    def one_of_two(self) -> Destination:
        """Refuse both, as Argo CD does in an Application, and neither."""
        if (self.name is None) == (self.server is None):
            raise wrong("one-of", "should have exactly one of: name, server")
        return self


class Window(Spec):
    """Times when hardware changes may not be synced (an AppProject deny window)."""

    schedule: Text
    """Cron expression of the start."""
    duration: Text
    """Such as `8h`."""
    time_zone: Text = "UTC"


class ArgoCD(Spec):
    """The Argo CD that syncs this cluster."""

    version: Version
    destination: Destination
    namespace: Name = "argocd"
    hardware_deny: tuple[Window, ...] = ()
    """Default: working days, 06:00 to 20:00 UTC."""


class Taint(Spec):
    """A node taint; the pool's flavor tolerates it."""

    key: Text
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"

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
    """Settings of the kubelet on a pool's nodes, in the words of KubeletConfiguration v1beta1."""

    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = "none"
    topology_manager_scope: Literal["container", "pod"] = "container"
    cpu_manager_policy: Literal["none", "static"] = "none"
    cpu_manager_policy_options: CpuOptions = {}
    topology_manager_policy_options: TopologyOptions = {}
    memory_manager_policy: Literal["None", "Static"] = "None"
    reserved_cpus: CpuList | None = Field(default=None, alias="reservedSystemCPUs")
    """CPU list such as `0-1,64-65`; default: the first cores of every NUMA node, as many as the shape reserves."""
    max_pods: Count = 110


DeviceAccess = Annotated[
    Annotated[Literal["open", "udev"], Tag("a way")]
    | Annotated[tuple[Amount, ...], Field(min_length=1), Tag("groups")],
    Discriminator(lambda value: "groups" if isinstance(value, (list, tuple)) else "a way"),
]


class Pool(Spec):
    """Nodes of one shape."""

    shape: Shaped
    """A preset's name, or the shape spelled out."""
    nodes: Count
    racks: Count = 1
    """Nodes are split evenly over racks."""
    blocks: Count = 1
    """Racks are split evenly over blocks."""
    spot: StrictBool = False
    """Whether the nodes are taken away at short notice."""
    notice_seconds: Count | None = None
    """Seconds that pods have from the notice to the end of a spot node; default: what the shape says, else 30."""
    losses_per_month: Rate | None = None
    """How often one node fails, is drained or taken away in 30 days; default 0.13, or 3 for spot nodes."""
    labels: Labels = {}
    """Labels that the nodes carry beside `trainyard.dev/pool`."""
    taints: tuple[Taint, ...] = ()
    mig: Mig | None = None
    """How its GPUs are cut by MIG; default: they are whole."""
    sharing: Sharing | None = None
    """How several pods share each of its GPUs; default: they do not."""
    nvlink: Name | None = None
    """Level of the topology that is the NVLink domain of its nodes, where that is more than a node."""
    kubelet: Kubelet | None = None
    """None where the provider sets the kubelet."""
    system: System = System()
    """How the pool's nodes are set up where that differs from the cluster's other nodes."""
    disk: Size | None = None
    """Bytes of the file system with the kubelet's folder, for scratch, logs and images; default: the shape's."""
    local_disks: LocalDisks | None = None
    """Local disks for `scratch: {medium: nvme}`; default: none that are known."""
    device_access: DeviceAccess | None = None
    """Who may open the GPUs' device files: `open`, every user; `udev`, every user by a rule that is rendered for the
    nodes; or the numbers of the groups that own them, which pods then get. AMD's are closed on most distributions."""
    daemons: tuple[PoolDaemon, ...] = ()
    """What others run on every node of the pool; told, it takes the place of what the shape assumes."""
    pci: tuple[PciAddress, ...] = ()
    """PCI addresses of the shape's NICs on these nodes, in its order; default: those that the shape knows."""
    interfaces: tuple[Text, ...] = ()
    """Network devices of the shape's NICs on these nodes, in its order, such as `ens1f0np0`."""

    def tolerations(self) -> list[dict[str, str]]:
        """Return what gets a pod past every taint of the nodes, value included where it has one."""
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
        known |= self.named(shape)
        if self.daemons:
            known["daemons"] = kept(self.daemons)
        return shape.model_copy(update=known) if known else shape

    def named(self, shape: Shape) -> dict[str, Any]:
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
        local = self.local_disks
        return self.disk or (local.size if local and local.storage is None else None)

    @model_validator(mode="after")
    def one_disk(self) -> Pool:
        """Refuse two sizes for the one disk with the kubelet's folder."""
        if self.disk is not None and self.local_disks is not None and self.local_disks.storage is None:
            raise wrong("one-of", "has disk, and localDisks without storage, which are the same disk; remove disk")
        return self

    @model_validator(mode="after")
    def one_way(self) -> Pool:
        """Refuse GPUs that are both cut and shared: MPS takes no MIG devices (k8s-device-plugin v0.20.0 README.md)."""
        if self.mig is not None and self.sharing is not None:
            raise wrong("one-of", "has mig and sharing; cut its GPUs or share them, in pools of their own")
        return self


class Cidrs(Spec):
    """Address ranges of the cluster."""

    pods: Cidr
    services: Cidr
    nodes: Cidr | None = None


class SecretName(Spec):
    """A Secret beside a driver, with what it needs to speak to its storage; its values are never in Git."""

    name: SubdomainName
    namespace: Name


class Storage(Spec):
    """A storage class."""

    provisioner: Text
    access: Access = "ReadWriteMany"
    throughput: Size | None = None
    """Bytes per second, whole class."""
    parameters: dict[str, str] = {}
    secret: SecretName | None = None
    """The driver's Secret, for every call that needs one."""
    mount_options: tuple[Text, ...] = ()
    """Such as `nfsvers=4.1`, `hard`, `nconnect=8`; a wrong one fails every mount."""
    reclaim: Literal["Retain", "Delete"] | None = None
    """What becomes of a volume whose claim is deleted; default: Retain, but for scratch on local disks."""
    ownership: Ownership | None = None
    """Who lets pods write: the kubelet (by fsGroup), the driver, or the server, where somebody prepares each volume."""
    existing: StrictBool = False
    """The class is there already and is not ours to make."""
    binding: Literal["Immediate", "WaitForFirstConsumer"] = "Immediate"

    @cached_property
    def driver(self) -> Driver | None:
        """What is known of the class's driver."""
        return driver(self.provisioner)

    @property
    def writable_by(self) -> Ownership:
        """Who lets pods write to its volumes: as it says, else as its driver does, else the kubelet."""
        return self.ownership or (self.driver.ownership if self.driver else "kubelet")

    @property
    def squashed(self) -> bool:
        """Whether the kubelet would walk through volumes in vain, and fail at a folder closed to it.

        Its driver leaves ownership to the kubelet, but the server takes root for nobody.
        """
        return self.writable_by == "server" and (self.driver is None or self.driver.ownership == "kubelet")


class OperatorChoice(Spec):
    """Which release of an operator, and its Helm values beside ours."""

    version: Version
    values: dict[str, Any] = {}
    managed: StrictBool = True
    """False: somebody else installs it (a provider); it counts as there, and nothing is emitted for it."""


class Quota(Spec):
    """An amount of a pool: by GPUs or nodes (CPUs and memory follow from the shape), or spelled out."""

    gpus: Amount | None = None
    nodes: Amount | None = None
    cpus: Amount | None = None
    memory: Size | None = None

    @model_validator(mode="after")
    def one_way(self) -> Quota:
        """Refuse an amount that is given in several ways, or in none."""
        ways = [self.gpus is not None, self.nodes is not None, self.cpus is not None or self.memory is not None]
        if sum(ways) != 1:
            raise wrong("one-of", "should have exactly one of: gpus, nodes, or cpus with memory")
        if ways[2] and (self.cpus is None or self.memory is None):
            raise wrong("one-of", "should have cpus and memory together")
        return self


class BorrowWithinCohort(TypedDict, total=False):
    """Kueue's ClusterQueue.spec.preemption.borrowWithinCohort."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # how pydantic closes a TypedDict

    policy: Literal["Never", "LowerPriority"]
    maxPriorityThreshold: Priority


class Preemption(Spec):
    """Kueue's ClusterQueue.spec.preemption."""

    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    borrow_within_cohort: BorrowWithinCohort | None = None

    @model_validator(mode="after")
    def reclaim_first(self) -> Preemption:
        """Refuse what Kueue refuses: preempting while borrowing without reclaiming (v0.19.2 clusterqueue_types.go)."""
        borrow = self.borrow_within_cohort or {}
        if self.reclaim_within_cohort == "Never" and borrow.get("policy", "Never") != "Never":
            raise wrong("preemption", "has borrowWithinCohort, which needs reclaimWithinCohort: LowerPriority or Any")
        return self


Fungibility = dict[
    Literal["whenCanBorrow", "whenCanPreempt", "preference"],
    Literal["MayStopSearch", "TryNextFlavor", "BorrowingOverPreemption", "PreemptionOverBorrowing"],
]


Scheduler = Literal["kueue", "volcano"]
"""Who admits the jobs of a queue to its quota."""


Gang = Literal["coscheduling"]
"""Who binds the pods of a gang all at once or not at all, where the cluster has no topology by which Kueue would."""


class Queue(Spec):
    """A ClusterQueue and, in every admitted team's namespace, a LocalQueue of the same name; Kueue's own words."""

    teams: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(named_once)]
    scheduler: Scheduler = "kueue"
    """Who admits its jobs; of `volcano` it is a Queue of Volcano's, for VolcanoJobs, with a pool of its own."""
    cohort: SubdomainName | None = None
    nominal_quota: Annotated[dict[Name, Quota], Field(min_length=1)]
    borrowing_limit: dict[Name, Quota] = {}
    lending_limit: dict[Name, Quota] = {}
    preemption: Preemption = Preemption()
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    flavor_fungibility: Fungibility = {}
    fair_weight: Size | None = None
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = "None"


class Cohort(Spec):
    """A Kueue Cohort: a parent in the quota tree and quota of its own."""

    parent: SubdomainName | None = None
    nominal_quota: dict[Name, Quota] = {}
    fair_weight: Size | None = None


Level = Annotated[dict[Name, Text], Field(min_length=1, max_length=1)]


class Cluster(Spec):
    """One cluster; its name is the file's."""

    kubernetes: Annotated[StrictStr, Form(r"v?1\.(?:34|35|36)(?:\.[0-9]+)?", "'1.34', '1.35' or '1.36', in quotes")]
    """Minor version, as text: "1.35"."""
    argocd: ArgoCD
    topology: tuple[Level, ...] = ()
    """Levels, coarse to fine, each `level: node label`; hostname is added."""
    pools: Annotated[dict[Name, Pool], Field(min_length=1)]
    system: System = System()
    """How nodes are set up: distribution, container runtime, kernel, driver of the NICs."""
    fabric: Fabric | None = None
    cidrs: Cidrs | None = None
    storage: dict[Name, Storage] = {}
    drivers: dict[Text, Reason] = {}
    """Storage drivers that are there, by provisioner, each with who installs it and which release."""
    operators: dict[Name, OperatorChoice] = {}
    priorities: dict[Name, Priority] = {}
    cohorts: dict[SubdomainName, Cohort] = {}
    queues: dict[Name, Queue] = {}
    gang: Gang | None = None
    """`coscheduling`: scheduler-plugins binds the pods of a run all at once, which Kueue does by a topology alone."""
    pipelines: Pipelines | None = None
    """Who keeps the order of jobs that say `after`; default: nobody."""
    recovery_minutes: Amount | None = None
    """Minutes that a running job may be short of pods until Kueue takes its quota back; 0: for ever; default 30."""
    waive: Waive = {}
    """Findings on the cluster that are accepted, each `rule: reason`."""
    description: str | None = None

    @property
    def minor(self) -> str:
        """The Kubernetes minor version, such as `1.35`."""
        return line(self.kubernetes)

    @property
    def levels(self) -> dict[str, str]:
        """Topology levels, coarse to fine, to node labels; hostname last, and none at all without a topology.

        Kueue never admits pods that ask for a level of flavors that have no topology.
        """
        named = {level: label for entry in self.topology for level, label in entry.items()}
        return {**named, "hostname": HOSTNAME} if named else {}

    def system_of(self, pool_name: str) -> System:
        """Return how the nodes of a pool are set up; distribution and runtime are always said."""
        return resolved(self.system, self.pools[pool_name].system)

    def queues_of(self, scheduler: Scheduler) -> dict[str, Queue]:
        """Return the queues whose jobs a scheduler admits, by name."""
        return {name: queue for name, queue in self.queues.items() if queue.scheduler == scheduler}

    def teams(self) -> tuple[str, ...]:
        """Names of the teams that some queue admits, sorted."""
        return tuple(sorted({team for queue in self.queues.values() for team in queue.teams}))
