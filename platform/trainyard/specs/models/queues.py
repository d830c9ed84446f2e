"""Queues and cohorts, in Kueue's own words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, model_validator
from typing_extensions import TypedDict

from trainyard.specs.models.base import Amount, Name, Room, Size, Spec, SubdomainName, named_once, wrong

Priority = Annotated[StrictInt, Field(ge=-(2**31), le=2**31 - 1)]


class Quota(Spec):
    """An amount of a pool: by GPUs or nodes (CPUs and memory follow from the shape), or spelled out."""

    gpus: Amount | None = None
    nodes: Amount | None = None
    cpus: Amount | None = None
    memory: Room | None = None

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
