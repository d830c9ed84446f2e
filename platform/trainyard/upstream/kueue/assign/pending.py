"""A Workload that waits for quota, with what it was seen to ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.upstream.kueue.assign.assignment import Progress
from trainyard.upstream.kueue.model.amounts import UNLIMITED
from trainyard.upstream.kueue.model.workloads import PodSet, Workload
from trainyard.upstream.kueue.quota.state import HeldSet
from trainyard.upstream.kueue.topology import Loss


@dataclass(slots=True, eq=False)
class WantedSet:
    """A pod set: its pods' adjusted spec, what one pod asks of quota and of a node, and how many there are."""

    name: str
    count: int
    spec: Mapping[str, Any]
    quota: Mapping[str, int]
    pod: Mapping[str, int]

    def requests(self, count: int) -> dict[str, int]:
        """Return the requests of that many pods in all."""
        return {resource: min(amount * count, UNLIMITED) for resource, amount in self.quota.items()}


@dataclass(slots=True, eq=False)
class Pending:
    """A Workload in a queue. `shape` is alike for Workloads that get the same answer.

    `stamp` is what changes its turn while it is parked. `holding` is what it holds already, when it is looked at a
    second time, `lost` the nodes that failed under it, `updates` what admission checks changed of its pods.
    """

    workload: Workload
    queue: str
    sets: list[WantedSet]
    priority: int
    ordered: int
    shape: object | None = None
    progress: Progress | None = None
    pinned: dict[str, dict[str, str]] = field(default_factory=dict)
    holding: tuple[HeldSet, ...] = ()
    lost: frozenset[str] = frozenset()
    updates: tuple[Mapping[str, Any], ...] = ()
    second: int = 0
    preemptor: bool = False
    stamp: object | None = None
    matched: dict[tuple[int, str], str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Namespace and name."""
        return self.workload.key

    @property
    def reserved(self) -> bool:
        """Whether it holds quota already."""
        return bool(self.holding)

    def held(self, name: str) -> HeldSet | None:
        """Return the quota that a pod set holds already."""
        return next((holding for holding in self.holding if holding.name == name), None)

    def losses(self) -> dict[str, Loss]:
        """Return by pod set the place that lost a node; nodes are replaced one at a time."""
        node = min(self.lost, default="")
        return {
            holding.name: Loss(holding.placement, node)
            for holding in self.holding
            if holding.placement is not None and any(one.values[-1] == node for one in holding.placement.domains)
        }

    @property
    def shrinkable(self) -> bool:
        """Whether fewer pods would do."""
        return any(
            pod_set.count > (pod_set.count if pod_set.min_count is None else pod_set.min_count)
            for pod_set in self.pod_sets
        )

    @property
    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pod sets as they are written."""
        return self.workload.pod_sets
