"""Queues and cohorts, in Kueue's own words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, model_validator
from typing_extensions import TypedDict

from trainyard.specs.models.base import Amount, Name, Room, Size, Spec, SubdomainName, named_once, validation_error

Priority = Annotated[StrictInt, Field(ge=-(2**31), le=2**31 - 1)]


class Quota(Spec):
    """An amount of a pool, in GPUs or nodes (CPUs and memory follow from the shape), or in CPUs and memory."""

    gpus: Amount | None = None
    """Number of GPUs; for parts of GPUs, number of whole cards."""
    nodes: Amount | None = None
    """Number of whole nodes."""
    cpus: Amount | None = None
    """CPUs of a pool without GPUs; needs `memory`."""
    memory: Room | None = None
    """Bytes of memory; needs `cpus`."""

    @model_validator(mode="after")
    def one_way(self) -> Quota:
        """Refuse an amount that is given in several ways, or in none."""
        ways = [self.gpus is not None, self.nodes is not None, self.cpus is not None or self.memory is not None]
        if sum(ways) != 1:
            raise validation_error("one-of", "must have exactly one of: gpus, nodes, or cpus with memory")
        if ways[2] and (self.cpus is None or self.memory is None):
            raise validation_error("one-of", "must have cpus and memory together")
        return self


class BorrowWithinCohort(TypedDict, total=False):
    """Kueue's ClusterQueue.spec.preemption.borrowWithinCohort."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # how pydantic closes a TypedDict

    policy: Literal["Never", "LowerPriority"]
    maxPriorityThreshold: Priority


class Preemption(Spec):
    """Kueue's ClusterQueue.spec.preemption."""

    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    """Which workloads of other queues are preempted to get lent quota back."""
    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    """Which workloads of this queue are preempted for one that waits."""
    borrow_within_cohort: BorrowWithinCohort | None = None
    """Whether a workload that has to borrow preempts workloads of lower priority."""

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
    """A ClusterQueue, with a LocalQueue for every admitted team; fields are named as in Kueue."""

    teams: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(named_once)]
    """Teams whose jobs the queue admits; each gets a LocalQueue in its namespace."""
    scheduler: Scheduler = "kueue"
    """Scheduler that admits the jobs; `volcano` makes a Volcano Queue for VolcanoJobs, which needs a pool of its
    own."""
    cohort: SubdomainName | None = None
    """Cohort that the queue lends to and borrows from; default: none."""
    nominal_quota: Annotated[dict[Name, Quota], Field(min_length=1)]
    """The queue's own quota of each pool."""
    borrowing_limit: dict[Name, Quota] = {}
    """Largest amount of each pool that the queue borrows; default: all unused quota of its cohort."""
    lending_limit: dict[Name, Quota] = {}
    """Largest amount of each pool that the queue lends; default: all of its quota."""
    preemption: Preemption = Preemption()
    """Which workloads are preempted for others."""
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    """`StrictFIFO`: a job that does not fit blocks all behind it; `BestEffortFIFO`: smaller jobs may pass."""
    flavor_fungibility: Fungibility = {}
    """Order in which Kueue tries several pools, borrowing and preemption."""
    fair_weight: Size | None = None
    """Weight in fair sharing, which it switches on for all queues; 0 yields to all others; default: 1, as in Kueue."""
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = "None"
    """`Hold` admits no new workloads; `HoldAndDrain` also evicts running ones."""


class Cohort(Spec):
    """A Kueue Cohort: its parent in the quota tree, and quota of its own."""

    parent: SubdomainName | None = None
    """Cohort above this one; default: none."""
    nominal_quota: dict[Name, Quota] = {}
    """Quota of the cohort itself, which its queues borrow."""
    fair_weight: Size | None = None
    """Weight in fair sharing, which it switches on for all queues; 0 yields to all others; default: 1, as in Kueue."""
