"""Who has to go for an assignment, and what preemption could do for a single resource.

Restated from kueue v0.19.2 pkg/scheduler/preemption/preemption.go and preemption_oracle.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.queueing.assign.assignment import Assignment
from trainyard.queueing.assign.modes import Search
from trainyard.queueing.assign.pending import Pending
from trainyard.queueing.assign.placing import placements_wanted
from trainyard.queueing.model.amounts import plus
from trainyard.queueing.model.gates import Gates
from trainyard.queueing.model.queues import FlavorResource
from trainyard.queueing.preempt.alike import Alike
from trainyard.queueing.preempt.classical import Classical
from trainyard.queueing.preempt.fair import Fair
from trainyard.queueing.preempt.need import Need, Target
from trainyard.queueing.preempt.ordering import Ordering, Users
from trainyard.queueing.quota.state import QueueState
from trainyard.queueing.quota.tree import borrow_level


@dataclass(slots=True)
class Preemptor:
    """Looks for victims among the queues as they are. `strategies` are those of fair sharing, None without it."""

    queues: Mapping[str, QueueState]
    gates: Gates
    strategies: tuple[str, ...] | None = None
    by_usage: bool = False
    now: int = 0
    alike: Alike = field(init=False)
    users: Users = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alike = Alike(self.queues, self.fair)

    def begin(self, now: int) -> None:
        """Have a cycle begin: since the last one others hold quota."""
        self.now = now
        self.users.clear()
        self.alike.begin()

    def forget(self) -> None:
        """Look again at who holds what: some are away, or back."""
        self.users.clear()
        self.alike.forget()

    @property
    def fair(self) -> bool:
        """Whether victims go by their shares."""
        return self.strategies is not None

    def targets(self, pending: Pending, assignment: Assignment, queue: QueueState) -> list[Target]:
        """Return who has to go so that a Workload gets what it was assigned."""
        topologies = self.gates["TopologyAwareScheduling"]
        requests = placements_wanted(assignment, pending, queue) if topologies else {}
        usage: dict[FlavorResource, int] = {}
        for wanted, assigned in zip(pending.sets, assignment.sets, strict=True):
            for resource, amount in wanted.requests(assigned.count).items():
                if amount and resource in assigned.flavors:
                    key = (assigned.flavors[resource].flavor, resource)
                    usage[key] = plus(usage.get(key, 0), amount)
        shared = self.gates["TASHandleOverlappingFlavors"]
        scarce = assignment.needing()
        first = self.alike.first(queue.node.root, usage, scarce)
        scarce -= usage.keys() - first.keys()
        return self._search(Need(pending, queue, self.queues, scarce, first, requests, shared, self.fair))

    def question(self, queue: QueueState, pending: Pending) -> Question:
        """Return what to ask for one resource of a Workload after the other while nothing else changes."""
        return Question(self, queue, pending)

    def simulate(self, queue: QueueState, pending: Pending, key: FlavorResource, amount: int) -> tuple[Search, int]:
        """Return what preemption could do for one resource in one flavor, and how far quota comes from then."""
        targets = self._search(Need(pending, queue, self.queues, frozenset((key,)), {key: amount}, fair=self.fair))
        if not targets:
            return Search.NO_CANDIDATES, borrow_level(queue.node, key, amount)[0]
        for each in targets:
            self.queues[each.held.queue].node.remove({key: each.held.usage.get(key, 0)})
        level = borrow_level(queue.node, key, amount)[0]
        for each in targets:
            self.queues[each.held.queue].node.add({key: each.held.usage.get(key, 0)})
        own = any(each.held.queue == queue.name for each in targets)
        return Search.PREEMPT if own else Search.RECLAIM, level

    def _search(self, need: Need) -> list[Target]:
        ordering = Ordering(need.queue.name, self.now, self.by_usage, self.users)
        if self.strategies is None:
            return Classical(need, ordering, self.gates).targets()
        return Fair(need, ordering, self.gates, self.strategies).targets()


@dataclass(slots=True)
class Question:
    """What preemption could do for a Workload in its queue; of resources that are alike it is found out once."""

    preemptor: Preemptor
    queue: QueueState
    pending: Pending
    told: dict[object, tuple[Search, int]] = field(default_factory=dict)

    def ask(self, key: FlavorResource, amount: int) -> tuple[Search, int]:
        """Return what preemption could do for so much, and how far quota comes from then."""
        sort = self.preemptor.alike.sort(self.queue.node.root, key, amount)
        if sort not in self.told:
            self.told[sort] = self.preemptor.simulate(self.queue, self.pending, key, amount)
        return self.told[sort]
