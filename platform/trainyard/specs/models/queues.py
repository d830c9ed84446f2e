"""Queues and cohorts, in Kueue's own words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, model_validator
from typing_extensions import TypedDict

from trainyard.specs.models.base import Amount, Name, Room, Size, Spec, SubdomainName, named_once, validation_error

Priority = Annotated[StrictInt, Field(ge=-(2**31), le=2**31 - 1)]


class Quota(Spec):
    """An amount of a pool: by GPUs or nodes (CPUs and memory follow from the shape), or spelled out."""

    gpus: Amount | None = None
    """GPUs; of parts of GPUs, cards."""
    nodes: Amount | None = None
    """Whole nodes."""
    cpus: Amount | None = None
    """CPUs, with `memory`, of a pool without GPUs."""
    memory: Room | None = None
    """Bytes, with `cpus`."""

    @model_validator(mode="after")
    def one_way(self) -> Quota:
        """Refuse an amount that is given in several ways, or in none."""
        ways = [self.gpus is not None, self.nodes is not None, self.cpus is not None or self.memory is not None]
        if sum(ways) != 1:
            raise validation_error("one-of", "should have exactly one of: gpus, nodes, or cpus with memory")
        if ways[2] and (self.cpus is None or self.memory is None):
            raise validation_error("one-of", "should have cpus and memory together")
        return self


class BorrowWithinCohort(TypedDict, total=False):
    """Kueue's ClusterQueue.spec.preemption.borrowWithinCohort."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # how pydantic closes a TypedDict

    policy: Literal["Never", "LowerPriority"]
    maxPriorityThreshold: Priority


class Preemption(Spec):
    """Kueue's ClusterQueue.spec.preemption."""

    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    """Whose workloads of other queues are ended to get back what they borrowed."""
    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    """Which workloads of the queue itself are ended for one that waits."""
    borrow_within_cohort: BorrowWithinCohort | None = None
    """Whether workloads of lower priority are ended for one that borrows, as Kueue has it."""

    @model_validator(mode="after")
    def reclaim_first(self) -> Preemption:
        """Refuse what Kueue refuses: preempting while borrowing without reclaiming (v0.19.2 clusterqueue_types.go)."""
        borrow = self.borrow_within_cohort or {}
        if self.reclaim_within_cohort == "Never" and borrow.get("policy", "Never") != "Never":
            raise validation_error(
                "preemption", "has borrowWithinCohort, which needs reclaimWithinCohort: LowerPriority or Any"
            )
        return self


Fungibility = dict[
    Literal["whenCanBorrow", "whenCanPreempt", "preference"],
    Literal["MayStopSearch", "TryNextFlavor", "BorrowingOverPreemption", "PreemptionOverBorrowing"],
]


Scheduler = Literal["kueue", "volcano"]
"""Who admits the jobs of a queue to its quota."""


class Queue(Spec):
    """A ClusterQueue and, in every admitted team's namespace, a LocalQueue of the same name; Kueue's own words."""

    teams: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(named_once)]
    """Teams whose jobs it admits; each gets a LocalQueue in its namespace."""
    scheduler: Scheduler = "kueue"
    """Who admits its jobs; of `volcano` it is a Queue of Volcano's, for VolcanoJobs, with a pool of its own."""
    cohort: SubdomainName | None = None
    """The cohort that it lends to and borrows from; default: none."""
    nominal_quota: Annotated[dict[Name, Quota], Field(min_length=1)]
    """What it has of each pool."""
    borrowing_limit: dict[Name, Quota] = {}
    """The most that it borrows of a pool; default: whatever its cohort has to spare."""
    lending_limit: dict[Name, Quota] = {}
    """The most that it lends of a pool; default: all of its quota."""
    preemption: Preemption = Preemption()
    """Which workloads are ended for others."""
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    """Whether a job that does not fit holds up those behind it (`StrictFIFO`)."""
    flavor_fungibility: Fungibility = {}
    """What is tried first where a job may run on several pools, as Kueue has it."""
    fair_weight: Size | None = None
    """Its weight in fair sharing; default: Kueue's, 1."""
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = "None"
    """`Hold` admits nothing more; `HoldAndDrain` also ends what runs."""


class Cohort(Spec):
    """A Kueue Cohort: a parent in the quota tree and quota of its own."""

    parent: SubdomainName | None = None
    """The cohort above it; default: none."""
    nominal_quota: dict[Name, Quota] = {}
    """Quota of its own, which its queues borrow."""
    fair_weight: Size | None = None
    """Its weight in fair sharing; default: Kueue's, 1."""
