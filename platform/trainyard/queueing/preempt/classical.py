"""Victims by priority and by place in the tree (kueue v0.19.2 pkg/scheduler/preemption/classical)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.queueing.model.amounts import minus, plus
from trainyard.queueing.model.gates import Gates
from trainyard.queueing.model.queues import NEVER, FlavorResource
from trainyard.queueing.preempt.need import IN_QUEUE, RECLAIMED, WHILE_BORROWING, Need, Target
from trainyard.queueing.preempt.ordering import Ordering, usable
from trainyard.queueing.quota.state import Held, QueueState
from trainyard.queueing.quota.tree import QuotaNode


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A Workload that may be preempted.

    `common` is the lowest cohort of both queues, None in the own one; `alone` says that it goes only if nothing is
    borrowed afterwards.
    """

    held: Held
    common: QuotaNode | None
    reason: str
    alone: bool = False


class Classical:
    """The search for victims of one need."""

    def __init__(self, need: Need, ordering: Ordering, gates: Gates) -> None:
        self.need, self.ordering, self.gates = need, ordering, gates
        self.rule = need.queue.spec.preemption
        self.near: list[Candidate] = []
        self.far: list[Candidate] = []

    def targets(self) -> list[Target]:
        """Return who has to go, nobody if it would not help."""
        own = self._own()
        self._foreign()
        candidates = self._in_order(self.near, self.far, own)
        for borrowing in self._attempts():
            targets: list[Target] = []
            for candidate in candidates:
                if not self._counts(candidate, borrowing):
                    continue
                self.need.take(candidate.held)
                targets.append(Target(candidate.held, candidate.reason))
                if self.need.fits(borrowing):
                    targets = self.need.spared(targets, borrowing)
                    self.need.put_all(targets)
                    return targets
            self.need.put_all(targets)
        return []

    def _attempts(self) -> tuple[bool, ...]:
        """Return whether borrowing is tried, and whether doing without, in order."""
        forbidden = self.rule.borrow == NEVER
        if not (self.near or self.far) or (forbidden and not self._below_nominal()):
            return (True,)
        if forbidden and not self.near:
            return (False, True)
        return (True, False)

    def _below_nominal(self) -> bool:
        node = self.need.queue.node
        return all(node.nominal(key) > node.usage.get(key, 0) for key in self.need.scarce)

    def _in_order(self, *classes: list[Candidate]) -> list[Candidate]:
        ordered = []
        for each in classes:
            by_key = {candidate.held.key: candidate for candidate in each}
            ordered.append([by_key[held.key] for held in self.ordering.sort(each.held for each in each)])
        evicted = [candidate for each in ordered for candidate in each if candidate.held.evicted]
        return evicted + [candidate for each in ordered for candidate in each if not candidate.held.evicted]

    def _counts(self, candidate: Candidate, borrowing: bool) -> bool:
        """Say whether a candidate still helps: its queue, and the cohorts up to the common one, are above quota."""
        if candidate.common is None:
            return True
        if borrowing and candidate.alone:
            return False
        node: QuotaNode | None = self.need.queues[candidate.held.queue].node
        while node is not None and node is not candidate.common:
            if not node.borrows_any(self.need.scarce):
                return False
            node = node.parent
        return True

    def _own(self) -> list[Candidate]:
        if self.rule.within == NEVER:
            return []
        return [Candidate(held, None, IN_QUEUE) for held in self._usable(self.need.queue, self.rule.within)]

    def _foreign(self) -> None:
        """Collect candidates of other queues, nearest first, skipping what was visited.

        From where the cohorts' own quota holds the request, it has an advantage over who is farther away. Who may not
        preempt while borrowing, and cannot do without, has no use for candidates before that.
        """
        node = self.need.queue.node
        if node.parent is None or self.rule.reclaim == NEVER:
            return
        advantage, rest = _within(node, self.need.usage)
        idle = self.rule.borrow == NEVER and not self._below_nominal()
        visited: QuotaNode | None = None
        for cohort in node.path():
            for queue in self._above_quota(cohort, visited) if advantage or not idle else ():
                for held in self._usable(queue, self.rule.reclaim):
                    if advantage:
                        self.near.append(Candidate(held, cohort, RECLAIMED))
                    else:
                        alone = self._only_alone(held)
                        self.far.append(Candidate(held, cohort, RECLAIMED if alone else WHILE_BORROWING, alone))
            holds, rest = _within(cohort, rest)
            advantage, visited = advantage or holds, cohort

    def _only_alone(self, held: Held) -> bool:
        """Say whether a candidate's priority is too high to be preempted by one who borrows."""
        if self.rule.borrow == NEVER or held.priority >= self.need.pending.priority:
            return True
        return self.rule.threshold is not None and held.priority > self.rule.threshold

    def _above_quota(self, cohort: QuotaNode, visited: QuotaNode | None) -> Iterator[QueueState]:
        for child in cohort.cohorts:
            if child is not visited and child.borrows_any(self.need.scarce):
                yield from self._above_quota(child, visited)
        for node in cohort.queues:
            if node is not self.need.queue.node and node.borrows_any(self.need.scarce):
                yield self.need.queues[node.name]

    def _usable(self, queue: QueueState, policy: str) -> list[Held]:
        return usable(self.need, queue, policy, self.gates)


def _within(node: QuotaNode, asked: Mapping[FlavorResource, int]) -> tuple[bool, dict[FlavorResource, int]]:
    """Return whether the quota of a subtree holds a request, and what of it is passed on to the parent."""
    holds = all(plus(node.usage.get(key, 0), amount) <= node.subtree.get(key, 0) for key, amount in asked.items())
    return holds, {key: max(0, minus(amount, node.unused_kept(key))) for key, amount in asked.items()}
