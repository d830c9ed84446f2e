"""A cluster: an inventory of nodes, fabric and storage, and the choices made on it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictStr

from trainyard.base.labels import HOSTNAME
from trainyard.base.limits import CLUSTER_NODES, COHORT_LEVELS
from trainyard.base.system.data import minors, minors_in_words
from trainyard.base.versions import line
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
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.pipelines import Pipelines
from trainyard.specs.models.pools import Pool
from trainyard.specs.models.queues import Cohort, Priority, Queue, Scheduler
from trainyard.specs.models.storage import Storage
from trainyard.specs.models.system import System, resolve_system

MINOR = rf"v?(?:{'|'.join(map(re.escape, minors()))})(?:\.[0-9]+)?"
"""A minor version of Kubernetes whose API types are there, or a patch release of it."""

MINORS = minors_in_words("'") + ", in quotes"


class Cidrs(Spec):
    """Address ranges of the cluster."""

    pods: Cidr
    """Addresses of pods."""
    services: Cidr
    """Addresses of Services."""
    nodes: Cidr | None = None
    """Addresses of nodes."""


Gang = Literal["coscheduling"]
"""Who binds the pods of a gang all at once or not at all, where the cluster has no topology by which Kueue would."""


class Unlisted(Spec):
    """What stands for the facts of a release that Trainyard does not know: a release that it does, and why."""

    like: Version
    """A known release, by which this one is rendered and judged: `trainyard releases` lists them."""
    reason: Reason
    """Who looked at what is different, and found what."""
    components: dict[str, dict[str, Any]] = {}
    """Images and versions of what the operator runs, where its own resources name them; default: those of `like`."""


class OperatorChoice(Spec):
    """Which release of an operator, and its Helm values beside ours."""

    version: Version
    """The release: what is written is what is installed."""
    unlisted: Unlisted | None = None
    """For a release that Trainyard does not know: installed as it is written, and judged as another."""
    values: dict[str, Any] = {}
    """Helm values beside ours, checked against the chart's own."""
    digests: dict[Text, Digest] = {}
    """Digests of images that objects rendered here name, by component: their tags may be moved, these may not."""
    managed: StrictBool = True
    """False: somebody else installs it (a provider); it counts as there, and nothing is emitted for it."""


Level = Annotated[dict[Name, Text], Field(min_length=1, max_length=1)]


def few_nodes(pools: dict[str, Pool]) -> dict[str, Pool]:
    """Refuse more nodes than a cluster can have."""
    count = sum(pool.nodes for pool in pools.values())
    if count > CLUSTER_NODES:
        raise validation_error("range", f"have {count} nodes together; at most {CLUSTER_NODES} are allowed")
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
                "range", f"have {name!r} below {len(seen) - 1} others; at most {COHORT_LEVELS} levels are allowed"
            )
    return cohorts


class Cluster(Spec):
    """One cluster; its name is the file's."""

    kubernetes: Annotated[StrictStr, Form(MINOR, MINORS)]
    """Minor version, as text: "1.35"."""
    argocd: ArgoCD
    """The Argo CD that syncs the cluster."""
    topology: tuple[Level, ...] = ()
    """Levels, coarse to fine, each `level: node label`; hostname is added."""
    pools: Annotated[dict[Name, Pool], Field(min_length=1), AfterValidator(few_nodes)]
    """Its nodes, as pools of equal ones, by name."""
    system: System = System()
    """How nodes are set up: distribution, container runtime, kernel, driver of the NICs."""
    fabric: Fabric | None = None
    """The network of training traffic; default: none, so that jobs have the cluster's own."""
    cidrs: Cidrs | None = None
    """Its ranges of addresses; network policies and fabrics keep out of them."""
    storage: dict[Name, Storage] = {}
    """Its storage classes, by name."""
    drivers: dict[Text, Reason] = {}
    """Storage drivers that are there, by provisioner, each with who installs it and which release."""
    operators: dict[Name, OperatorChoice] = {}
    """Its operators, by name: `trainyard releases` lists them."""
    priorities: dict[Name, Priority] = {}
    """Priorities that jobs may have, by name; the greater number goes first."""
    cohorts: Annotated[dict[SubdomainName, Cohort], AfterValidator(flat)] = {}
    """Cohorts of queues with a parent or quota of their own, by name."""
    queues: dict[Name, Queue] = {}
    """Its queues, by name."""
    gang: Gang | None = None
    """`coscheduling`: scheduler-plugins binds the pods of a run all at once, which Kueue does by a topology alone."""
    pipelines: Pipelines | None = None
    """Who keeps the order of jobs that say `after`; default: nobody."""
    recovery_minutes: Amount | None = None
    """Minutes that a running job may be short of pods until Kueue takes its quota back; 0: for ever; default 30."""
    longest_grace_seconds: Count = 3600
    """Seconds that a pod of a run may take to end, at the most; so long whoever reclaims its nodes may wait."""
    runtime_classes: tuple[SubdomainName, ...] = ()
    """RuntimeClasses that jobs may name by a patch; default: none, so that all pods have the nodes' own runtime."""
    waive: Waive = {}
    """Findings on the cluster that are accepted, each `rule: reason`."""
    description: str | None = None
    """Words for people."""

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
        return resolve_system(self.system, self.pools[pool_name].system)

    def queues_of(self, scheduler: Scheduler) -> dict[str, Queue]:
        """Return the queues whose jobs a scheduler admits, by name."""
        return {name: queue for name, queue in self.queues.items() if queue.scheduler == scheduler}

    def teams(self) -> tuple[str, ...]:
        """Names of the teams that some queue admits, sorted."""
        return tuple(sorted({team for queue in self.queues.values() for team in queue.teams}))
