"""Who has to go for an assignment, and what preemption could do for a single resource.

Restated from kueue v0.19.2 pkg/scheduler/preemption/preemption.go and preemption_oracle.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.assignment import Assignment
from trainyard.upstream.kueue.assign.modes import Search
from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.assign.placing import placements_wanted
from trainyard.upstream.kueue.model.amounts import plus
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.preempt.alike import Alike
from trainyard.upstream.kueue.preempt.classical import Classical
from trainyard.upstream.kueue.preempt.fair import Fair
from trainyard.upstream.kueue.preempt.need import Need, Target
from trainyard.upstream.kueue.preempt.ordering import Ordering, Users
from trainyard.upstream.kueue.quota.state import QueueState
from trainyard.upstream.kueue.quota.tree import borrow_level


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
        """Return the question to ask for one resource of a Workload after the other while nothing else changes."""
        return Question(self, queue, pending)

    def simulate(self, queue: QueueState, pending: Pending, key: FlavorResource, amount: int) -> tuple[Search, int]:
        """Return the outcome of preemption for one resource in one flavor, and the borrowing level after it."""
        targets = self._search(Need(pending, queue, self.queues, frozenset((key,)), {key: amount}, fair=self.fair))
        if not targets:
            return Search.NO_CANDIDATES, borrow_level(queue.node, key, amount)[0]
        for target in targets:
            self.queues[target.held.queue].node.remove({key: target.held.usage.get(key, 0)})
        level = borrow_level(queue.node, key, amount)[0]
        for target in targets:
            self.queues[target.held.queue].node.add({key: target.held.usage.get(key, 0)})
        own = any(target.held.queue == queue.name for target in targets)
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
        """Return the outcome of preemption for that amount, and the borrowing level after it."""
        sort = self.preemptor.alike.sort(self.queue.node.root, key, amount)
        if sort not in self.told:
            self.told[sort] = self.preemptor.simulate(self.queue, self.pending, key, amount)
        return self.told[sort]
