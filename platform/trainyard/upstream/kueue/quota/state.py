"""What a queue holds while the scheduler works: its node of the tree, its Workloads, and its topologies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.upstream.kueue.model.placements import PlacedPods, Placement, PlacementRequest
from trainyard.upstream.kueue.model.queues import ClusterQueue, FlavorResource
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.quota.tree import QuotaNode
from trainyard.upstream.kueue.topology import Loss, Places

Domains = dict[tuple[str, ...], dict[str, int]]
Placed = Mapping[str, Sequence[PlacedPods]]
"""Pods in topologies, by flavor."""


@dataclass(slots=True)
class HeldSet:
    """A pod set that holds quota: resources in all, their flavors, and where the pods are."""

    name: str
    count: int
    requests: dict[str, int]
    flavors: dict[str, str]
    placement: Placement | None = None
    placed: tuple[PlacedPods, ...] = ()
    delayed: str | None = None


@dataclass(slots=True, eq=False)
class Held:
    """A Workload that holds quota in a queue, since `reserved` (nanoseconds since 1970)."""

    workload: Workload
    queue: str
    sets: list[HeldSet]
    priority: int
    ordered: int
    reserved: int | None
    evicted: bool = False
    admitted: bool = False
    shared_usage: float | None = None
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    placed: dict[str, list[PlacedPods]] = field(default_factory=dict)
    key: str = field(init=False)
    assigned: frozenset[FlavorResource] = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.workload.key
        pairs = ((flavor, resource) for set_ in self.sets for resource, flavor in set_.flavors.items())
        self.assigned = frozenset(pairs)

    def uses(self, keys: frozenset[FlavorResource]) -> bool:
        """Say whether a pod set has one of these flavors assigned."""
        return not self.assigned.isdisjoint(keys)


@dataclass(slots=True, eq=False)
class QueueState:
    """A queue that takes part in scheduling."""

    spec: ClusterQueue
    node: QuotaNode
    places: dict[str, Places] = field(default_factory=dict)
    workloads: dict[str, Held] = field(default_factory=dict)
    generation: int = 1
    topologies_only: bool = False
    provisioned: frozenset[str] = frozenset()
    multikueue: bool = False

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.spec.name

    def add(self, usage: Mapping[FlavorResource, int], placed: Placed) -> None:
        """Count usage, in the tree and in the topologies."""
        self.node.add(usage)
        for flavor, pods in placed.items():
            if flavor in self.places:
                for pod in pods:
                    self.places[flavor].add(pod)

    def remove(self, usage: Mapping[FlavorResource, int], placed: Placed) -> None:
        """Take usage back."""
        self.node.remove(usage)
        for flavor, pods in placed.items():
            if flavor in self.places:
                for pod in pods:
                    self.places[flavor].remove(pod)

    def fits(self, usage: Mapping[FlavorResource, int]) -> bool:
        """Say whether so much more is there."""
        return all(self.node.available(key) >= amount for key, amount in usage.items())

    def fits_places(self, placed: Placed) -> bool:
        """Say whether the domains have room for pods."""
        return all(self.places[flavor].fits(pods) for flavor, pods in placed.items())

    def find(
        self,
        requests: Mapping[str, Sequence[PlacementRequest]],
        *,
        shared: bool,
        empty: bool = False,
        losses: Mapping[str, Loss] | None = None,
    ) -> dict[str, tuple[str, Placement | str]]:
        """Return by pod set its flavor with its place, or with why there is none.

        Flavors go by name; `shared` makes those on the same hosts see each other's pods of this Workload. With `losses`
        places are mended that lost a node.
        """
        assumed: Domains = {}
        found: dict[str, tuple[str, Placement | str]] = {}
        for flavor in sorted(requests):
            places = self.places[flavor]
            common = assumed if shared and len(requests) > 1 and places.lowest_is_node else None
            if losses is None:
                answers = places.find(requests[flavor], empty=empty, assumed=common)
            else:
                answers = places.repair(requests[flavor], losses, assumed=common)
            found.update({name: (flavor, answer) for name, answer in answers.items()})
        return found


def failure(found: Mapping[str, tuple[str, Placement | str]], order: Iterable[str]) -> tuple[str, str, str] | None:
    """Return pod set, flavor and reason of the first set without a place."""
    for name in order:
        if name in found and isinstance(found[name][1], str):
            return name, found[name][0], str(found[name][1])
    return None
