"""A cluster: an inventory of nodes, fabric and storage, and the choices made on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, StrictBool, StrictStr, model_validator

from trainyard.base.labels import HOSTNAME
from trainyard.base.limits import CLUSTER_NODES, COHORT_LEVELS
from trainyard.base.pools import Selector, Selectors, pools_with, selector_of
from trainyard.base.versions import line
from trainyard.specs.distributions import DEFAULT, Distribution, distributions
from trainyard.specs.models.argocd import ArgoCD
from trainyard.specs.models.base import (
    Amount,
    Cidr,
    Count,
    Digest,
    Form,
    Name,
    Reason,
    Spec,
    SubdomainName,
    Text,
    Version,
    Waive,
    validation_error,
)
from trainyard.specs.models.buckets import ObjectStorage
from trainyard.specs.models.ceph import Ceph
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.health import Health
from trainyard.specs.models.kubernetes import Kubernetes
from trainyard.specs.models.monitoring import Monitoring
from trainyard.specs.models.nim import Nim
from trainyard.specs.models.pipelines import Pipelines
from trainyard.specs.models.pools import Pool
from trainyard.specs.models.queues import Cohort, Priority, Queue, Scheduler
from trainyard.specs.models.scaling import Autoscaler
from trainyard.specs.models.simulated import FAKE, FAKE_NODE, LEFT_OUT, Simulation, simulate
from trainyard.specs.models.storage import Storage
from trainyard.specs.models.system import System, resolve_system
from trainyard.specs.models.tracking import Tracking
from trainyard.specs.models.virtual_clusters import VirtualCluster, VirtualClusterName


class Cidrs(Spec):
    """Address ranges of the cluster."""

    pods: Cidr
    """Addresses of pods."""
    services: Cidr
    """Addresses of Services."""
    nodes: Cidr | None = None
    """Addresses of nodes."""


Gang = Literal["coscheduling", "native"]
"""Who binds the pods of a gang all at once or not at all, where the cluster has no topology by which Kueue would."""

Gate = Literal[
    "GenericWorkload",
    "WorkloadWithJob",
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
]
"""Feature gates of Kubernetes that are off by default, and by which objects are rendered or checked otherwise."""

GANG_GATES: tuple[Gate, ...] = ("GenericWorkload", "WorkloadWithJob")
"""Gates with which kube-scheduler binds the gangs of plain Jobs."""

GATE_NEEDS: dict[Gate, tuple[Gate, ...]] = {
    "WorkloadWithJob": ("GenericWorkload",),
    "CompositePodGroup": ("GenericWorkload", "TopologyAwareWorkloadScheduling"),
    "DRAWorkloadResourceClaims": ("GenericWorkload",),
    "PodGroupPreemptionPolicy": ("GenericWorkload",),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
}
"""Gates without which a gate cannot be on (kubernetes v1.37.2 pkg/features/kube_features.go)."""


Role = Annotated[
    StrictStr, Form(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+", "arn:aws:iam::<account>:role/<name>")
]
"""The ARN of a role of Amazon."""


class Unlisted(Spec):
    """A known release whose facts are used for a release that Trainyard does not know, and the reason."""

    like: Version
    """The known release whose facts are used; `trainyard releases` lists all."""
    reason: Reason
    """Result of the comparison of both releases: who compared them, and what differs."""
    components: dict[str, dict[str, Any]] = {}
    """Images and versions that the operator's own resources name; default: those of `like`."""


class OperatorChoice(Spec):
    """Release of an operator, and Helm values in addition to Trainyard's."""

    version: Version
    """Release to install."""
    unlisted: Unlisted | None = None
    """Needed for a release that Trainyard does not know: it is installed, and checked with the facts of another."""
    values: dict[str, Any] = {}
    """Helm values in addition to Trainyard's, checked against the values that the chart reads."""
    digests: dict[Text, Digest] = {}
    """Digests by component, for images that Trainyard's objects name; a tag can change its image, a digest cannot."""
    identity: Literal["irsa", "pod-identity", "node"] | None = None
    """Way in which a storage driver of Amazon gets its rights: `irsa` or `pod-identity`, with `role`, or `node`: the
    role of the nodes, which all their pods have too."""
    role: Role | None = None
    """ARN of the role that a storage driver of Amazon has, such as `arn:aws:iam::111122223333:role/fsx`."""
    managed: StrictBool = True
    """`false` if somebody else installs the operator, such as the provider; Trainyard then renders nothing for it."""
    gates: dict[Text, StrictBool] = {}
    """Feature gates that others set, by name, with `managed: false`; where Trainyard installs it, `values` set them."""
    scheduler: Scheduler | None = None
    """Scheduler that admits the jobs of `training-operator` or `mpi-operator`; `volcano` makes the operator group
    their pods for queues of Volcano; default: Kueue."""


Level = Annotated[dict[Name, Text], Field(min_length=1, max_length=1)]


def few_nodes(pools: dict[str, Pool]) -> dict[str, Pool]:
    """Refuse more nodes than a cluster can have."""
    count = sum(pool.nodes for pool in pools.values())
    if count > CLUSTER_NODES:
        raise validation_error("range", f"have {count} nodes together; use at most {CLUSTER_NODES}")
    return pools


def flat(cohorts: dict[str, Cohort]) -> dict[str, Cohort]:
    """Refuse cohorts too far below one another; those in a circle are another's to find."""
    for name, cohort in cohorts.items():
        seen, above = {name}, cohort.parent
        while above in cohorts and above not in seen:
            seen.add(above)
            above = cohorts[above].parent
        if len(seen) > COHORT_LEVELS:
            raise validation_error(
                "range", f"have {name!r} below {len(seen) - 1} other cohorts; use at most {COHORT_LEVELS} levels"
            )
    return cohorts


class Cluster(Spec):
    """One cluster; the file's name is the cluster's name."""

    base: Name | None = None
    """Another cluster of `platform/clusters`, whose file says what this one leaves out. Maps merge by key, lists and
    everything else replace, and null removes; `description`, `base` and `abstract` are not handed down."""
    abstract: StrictBool = False
    """`true` if the file is only a base for others: no cluster comes of it, and it may lack fields."""
    kubernetes: Kubernetes
    """Minor version of the control plane and, unless a pool says another, of its nodes, as text: "1.35"."""
    argocd: ArgoCD
    """The Argo CD that syncs the cluster."""
    topology: tuple[Level, ...] = ()
    """Levels of the topology from coarse to fine, each `level: node label`; the level `hostname` is added. Without
    racks, `[{node: kubernetes.io/hostname}]` lets Kueue fill one node after the other."""
    pools: Annotated[dict[Name, Pool], Field(min_length=1), AfterValidator(few_nodes)]
    """The cluster's nodes, as pools of equal nodes, by name."""
    system: System = System()
    """Software of the nodes: distribution, container runtime, kernel, driver of the NICs."""
    simulated: Simulation | None = None
    """Rehearsal without machines: KWOK simulates all nodes, and what needs hardware is left out; `{}` for the
    defaults. Default: nodes are machines."""
    fabric: Fabric | None = None
    """The network for training traffic; default: none, so jobs use the cluster's network."""
    health: Health | None = None
    """Faults of hardware that are looked for on nodes, and what becomes of such a node; default: nobody looks."""
    cidrs: Cidrs | None = None
    """Address ranges of the cluster, which network policies and fabrics leave free."""
    storage: dict[Name, Storage] = {}
    """Storage classes, by name."""
    drivers: dict[Text, Reason] = {}
    """Storage drivers that are installed, by provisioner: who installs each, and which release."""
    object_storage: ObjectStorage | None = None
    """Buckets of object stores, and the identities by which teams use them; default: none."""
    ceph: Ceph | None = None
    """A Ceph cluster by Rook on nodes of the cluster; default: none, or somebody else's."""
    operators: dict[Name, OperatorChoice] = {}
    """Operators, by name; `trainyard releases` lists them."""
    priorities: dict[Name, Priority] = {}
    """Priorities of jobs, by name; the greater number goes first."""
    cohorts: Annotated[dict[SubdomainName, Cohort], AfterValidator(flat)] = {}
    """Cohorts that have a parent or quota of their own, by name."""
    queues: dict[Name, Queue] = {}
    """Queues, by name."""
    gang: Gang | None = None
    """`coscheduling`: scheduler-plugins binds all pods of a run together; `native`: kube-scheduler does so for plain
    Jobs, by `featureGates`; without either, Kueue does so only with a topology."""
    feature_gates: tuple[Gate, ...] = ()
    """Feature gates that are on in API server, controller manager and scheduler, although Kubernetes has them off."""
    pipelines: Pipelines | None = None
    """The Kubeflow Pipelines that runs jobs with `after` in their order; default: none."""
    monitoring: Monitoring | None = None
    """The Prometheus that watches the cluster, and its alerts; default: none."""
    tracking: Tracking | None = None
    """Experiment tracking: MLflow, Weights & Biases; default: none."""
    recovery_minutes: Amount | None = None
    """Minutes that a running job may lack pods before Kueue takes its quota back; 0: no limit; default: 30."""
    longest_grace_seconds: Count = 3600
    """Longest `graceSeconds` of a run, in seconds; preemption and drains can wait that long."""
    runtime_classes: tuple[SubdomainName, ...] = ()
    """RuntimeClasses that a job's patch may name; default: none, so pods use the nodes' own runtime."""
    nim: Nim | None = None
    """Services of NVIDIA NIM beside training; default: none."""
    virtual_clusters: dict[VirtualClusterName, VirtualCluster] = {}
    """Virtual clusters of teams beside training, by name, which `operators.vcluster` runs; default: none."""
    licensed_gpus: Amount | None = None
    """GPUs that licences of NVIDIA AI Enterprise cover for services of NVIDIA NIM; default: not checked."""
    waive: Waive = {}
    """Accepted findings on the cluster, each `rule: reason`."""
    description: str | None = None
    """Free text for readers."""
    _namespaces: dict[str, str] = PrivateAttr(default_factory=dict)
    """By team, the namespaces that do not have their team's name; the teams' files say them."""

    @model_validator(mode="before")
    @classmethod
    def as_simulated(cls, value: Any) -> Any:
        """Leave out of a rehearsal what needs machines."""
        return simulate(value)

    @property
    def left_out(self) -> dict[str, str]:
        """The operators of its file that a rehearsal leaves out, each with the reason; none of other clusters."""
        return {name: LEFT_OUT[name] for name in self.operators if self.simulated and name in LEFT_OUT}

    @property
    def minor(self) -> str:
        """The Kubernetes minor version, such as `1.35`."""
        return line(self.kubernetes)

    def kubelet_of(self, pool_name: str) -> str:
        """Return the release of the kubelets of a pool: the cluster's, unless its nodes are older."""
        return self.pools[pool_name].kubernetes or self.kubernetes

    @property
    def levels(self) -> dict[str, str]:
        """Topology levels, coarse to fine, to node labels; hostname last, and none at all without a topology.

        Kueue never admits pods that ask for a level of flavors that have no topology.
        """
        named = {level: label for entry in self.topology for level, label in entry.items()}
        if [*named.values()] == [HOSTNAME]:
            return named
        return {**named, "hostname": HOSTNAME} if named else {}

    def levels_of(self, pool_name: str) -> dict[str, str]:
        """Return the levels by which Kueue places pods on a pool; none where it does not look at nodes.

        Of a pool that scales, Kueue would see the nodes of now alone and never ask for more, unless it asks for nodes
        before it places pods (kueue v0.19.2 pkg/scheduler/flavorassigner/tas_flavorassigner.go).
        """
        pool = self.pools.get(pool_name)
        return {} if pool is not None and pool.scales and pool.provisioning is None else self.levels

    def autoscaler_of(self, pool_name: str) -> Autoscaler | None:
        """Return the program that starts nodes of a pool; None for a pool that does not scale."""
        pool = self.pools[pool_name]
        if not pool.scales:
            return None
        return (pool.scaling.by if pool.scaling else None) or self.distribution_of(pool_name).autoscaler

    def is_karpenters(self, pool_name: str) -> bool:
        """Whether Karpenter starts the nodes of a pool."""
        return self.autoscaler_of(pool_name) == "karpenter"

    @property
    def selectors(self) -> Selectors:
        """The labels that select the nodes of each pool, by its name; everything that selects nodes reads them here."""
        return {name: self.selector_of(name) for name in self.pools}

    @property
    def is_labelled_by_others(self) -> bool:
        """Whether some pool's nodes are selected by labels that others set."""
        return any(pool.selector is not None for pool in self.pools.values())

    def selector_of(self, pool_name: str) -> dict[str, str]:
        """Return the labels that select the nodes of a pool; on a rehearsal only simulated ones have them."""
        own = selector_of(pool_name, self.pools[pool_name].selector)
        return own if self.simulated is None else {**own, FAKE_NODE: FAKE}

    def pool_with(self, labels: Selector) -> str | None:
        """Return the pool whose nodes have such labels; None where there is none."""
        return next(iter(pools_with(labels, self.selectors)), None)

    def system_of(self, pool_name: str) -> System:
        """Return how the nodes of a pool are set up; distribution and runtime are always said."""
        return resolve_system(self.system, self.pools[pool_name].system)

    @property
    def distribution(self) -> Distribution:
        """Facts of the cluster's distribution, which its pools have unless they name another."""
        return distributions()[self.system.distribution or DEFAULT]

    def distribution_of(self, pool_name: str) -> Distribution:
        """Return the facts of the distribution of a pool's nodes."""
        return distributions()[self.system_of(pool_name).distribution or DEFAULT]

    def chosen(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return the release of each operator and of Argo CD, with the field that has it."""
        found = {name: (choice.version, ("operators", name, "version")) for name, choice in self.operators.items()}
        return {**found, "argo-cd": (self.argocd.version, ("argocd", "version"))}

    def installs(self, operator: str) -> bool:
        """Whether an operator is there and installed from here."""
        choice = self.operators.get(operator)
        return choice is not None and choice.managed

    def scheduler_of(self, operator: str | None) -> Scheduler | None:
        """Return who admits the jobs of an operator as its choice says; None where nothing is said."""
        choice = self.operators.get(operator) if operator else None
        return choice.scheduler if choice else None

    def queues_of(self, scheduler: Scheduler) -> dict[str, Queue]:
        """Return the queues whose jobs a scheduler admits, by name."""
        return {name: queue for name, queue in self.queues.items() if queue.scheduler == scheduler}

    def teams(self) -> tuple[str, ...]:
        """Names of the teams that some queue admits, sorted."""
        return tuple(sorted({team for queue in self.queues.values() for team in queue.teams}))

    def with_namespaces(self, found: Mapping[str, str]) -> Self:
        """Return the cluster with the namespaces of teams, by team; those with their team's name need not be said."""
        there = {*self.teams()} if found else frozenset()
        others = {team: space for team, space in found.items() if space != team and team in there}
        if others == self._namespaces:
            return self
        other = self.model_copy()
        other._namespaces = others
        return other

    @property
    def other_namespaces(self) -> Mapping[str, str]:
        """By team, the namespaces that do not have their team's name."""
        return MappingProxyType(self._namespaces)

    def namespace_of(self, team: str) -> str:
        """Return the namespace of a team on the cluster: its name, unless its file says another."""
        return self._namespaces.get(team, team)

    def team_in(self, namespace: str) -> str | None:
        """Return the team that a namespace of the cluster belongs to; None where it is no team's."""
        return next((team for team in self.teams() if self.namespace_of(team) == namespace), None)

    def namespaces(self, teams: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the namespaces of some teams, sorted; by default of all that some queue admits."""
        return tuple(sorted({self.namespace_of(team) for team in (self.teams() if teams is None else teams)}))
