"""What a Workload needs, and whether it fits while victims are taken away (kueue v0.19.2 preemption.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.model.placements import PlacementRequest
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.quota.state import Held, QueueState, failure

IN_QUEUE = "InClusterQueue"
RECLAIMED = "InCohortReclamation"
FAIR = "InCohortFairSharing"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A Workload that has to go, and why."""

    held: Held
    reason: str


@dataclass(slots=True)
class Need:
    """A Workload that looks for victims in the queues as they are.

    `scarce` is what it cannot get without them, `usage` all that it asks for, `requests` the places it looks for.
    """

    pending: Pending
    queue: QueueState
    queues: Mapping[str, QueueState]
    scarce: frozenset[FlavorResource]
    usage: Mapping[FlavorResource, int]
    requests: Mapping[str, Sequence[PlacementRequest]] = field(default_factory=dict)
    shared: bool = True
    fair: bool = False
    """Whether shares of all that is used count, not only what is asked for."""
    keys: tuple[FlavorResource, ...] = field(init=False)
    standing: dict[str, Held] = field(default_factory=dict)
    """Workloads that were taken away, and whose places were not asked for since."""

    def __post_init__(self) -> None:
        self.keys = (*self.usage, *(self.scarce - self.usage.keys()))

    def fits(self, borrowing: bool) -> bool:
        """Say whether the Workload fits now, in quota and in topologies."""
        node = self.queue.node
        for key, amount in self.usage.items():
            if not borrowing and node.borrows(key, amount):
                return False
            if amount > node.available(key):
                return False
        if not self.requests:
            return True
        for holder in self.standing.values():
            self.queues[holder.queue].remove({}, holder.placed)
        self.standing.clear()
        order = [set_.name for set_ in self.pending.sets]
        losses = self.pending.losses() if self.pending.lost else None
        return failure(self.queue.find(self.requests, shared=self.shared, losses=losses), order) is None

    def could_fit(self, *candidates: Iterable[Held]) -> bool:
        """Say whether quota would be there if all candidates went, whose usage is at most what is left then."""
        lacking = {key: amount - self.queue.node.left(key) for key, amount in self.usage.items()}
        for held in chain.from_iterable(candidates):
            if not any(amount > 0 for amount in lacking.values()):
                return True
            for key in lacking:
                lacking[key] -= held.usage.get(key, 0)
        return not any(amount > 0 for amount in lacking.values())

    def take(self, held: Held) -> None:
        """Take a Workload away."""
        queue = self.queues[held.queue]
        queue.workloads.pop(held.key, None)
        queue.node.remove(self._counted(held))
        if self.requests and held.placed:
            self.standing[held.key] = held

    def put(self, held: Held) -> None:
        """Put a Workload back."""
        queue = self.queues[held.queue]
        queue.workloads[held.key] = held
        queue.node.add(self._counted(held))
        if self.requests and held.placed and self.standing.pop(held.key, None) is None:
            queue.add({}, held.placed)

    def _counted(self, held: Held) -> Mapping[FlavorResource, int]:
        """Return the part of a Workload's usage that makes a difference to this need."""
        if self.fair:
            return held.usage
        return {key: held.usage[key] for key in self.keys if key in held.usage}

    def put_all(self, targets: Iterable[Target]) -> None:
        """Put all victims back."""
        for target in targets:
            self.put(target.held)

    def spared(self, targets: list[Target], borrowing: bool) -> list[Target]:
        """Put back who need not go, the last taken first; the very last one always has to.

        One who stays changes places with the last of the list, so that the order of the victims changes.
        """
        for index in range(len(targets) - 2, -1, -1):
            self.put(targets[index].held)
            if self.fits(borrowing):
                targets[index] = targets[-1]
                targets.pop()
            else:
                self.take(targets[index].held)
        return targets
