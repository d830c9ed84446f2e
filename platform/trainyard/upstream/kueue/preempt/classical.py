"""Victims by priority and by place in the tree (kueue v0.19.2 pkg/scheduler/preemption/classical)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.upstream.kueue.model.amounts import minus, plus
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import NEVER, FlavorResource
from trainyard.upstream.kueue.preempt.need import IN_QUEUE, RECLAIMED, WHILE_BORROWING, Need, Target
from trainyard.upstream.kueue.preempt.ordering import Ordering
from trainyard.upstream.kueue.quota.state import Held, QueueState
from trainyard.upstream.kueue.quota.tree import QuotaNode


class Classical:
    """The search for victims of one need.

    `common` has by queue the lowest cohort that it shares, none for the own one; Workloads of `near` queues go by
    reclaiming alone, of `far` ones by their priority.
    """

    def __init__(self, need: Need, ordering: Ordering, gates: Gates) -> None:
        self.need, self.ordering, self.gates = need, ordering, gates
        self.rule = need.queue.spec.preemption
        self.common: dict[str, QuotaNode] = {}
        self.near: list[Held] = []
        self.far: list[Held] = []
        self.far_queues: set[str] = set()

    def targets(self) -> list[Target]:
        """Return who has to go, nobody if it would not help."""
        own = self._own()
        self._foreign()
        if not self.need.could_fit(own, self.near, self.far):
            return []
        candidates = self._in_order(self.near, self.far, own)
        for borrowing in self._attempts():
            targets: list[Target] = []
            for held in candidates:
                if not self._counts(held, borrowing):
                    continue
                self.need.take(held)
                targets.append(Target(held, self._reason(held)))
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

    def _in_order(self, *classes: list[Held]) -> list[Held]:
        ordered = [self.ordering.sort(class_) for class_ in classes]
        evicted = [held for ordered_class in ordered for held in ordered_class if held.evicted]
        return evicted + [held for ordered_class in ordered for held in ordered_class if not held.evicted]

    def _counts(self, held: Held, borrowing: bool) -> bool:
        """Say whether a candidate still helps: its queue, and the cohorts up to the common one, are above quota.

        Some go only if nothing is borrowed afterwards.
        """
        common = self.common.get(held.queue)
        if common is None:
            return True
        if borrowing and held.queue in self.far_queues and self._only_alone(held):
            return False
        node: QuotaNode | None = self.need.queues[held.queue].node
        while node is not None and node is not common:
            if not node.borrows_any(self.need.scarce):
                return False
            node = node.parent
        return True

    def _reason(self, held: Held) -> str:
        if held.queue not in self.common:
            return IN_QUEUE
        return RECLAIMED if held.queue not in self.far_queues or self._only_alone(held) else WHILE_BORROWING

    def _own(self) -> list[Held]:
        return [] if self.rule.within == NEVER else self._usable(self.need.queue, self.rule.within)

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
                self.common[queue.name] = cohort
                if advantage:
                    self.near += self._usable(queue, self.rule.reclaim)
                else:
                    self.far += self._usable(queue, self.rule.reclaim)
                    self.far_queues.add(queue.name)
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
        return self.ordering.usable(self.need, queue, policy, self.gates)


def _within(node: QuotaNode, asked: Mapping[FlavorResource, int]) -> tuple[bool, dict[FlavorResource, int]]:
    """Return whether the quota of a subtree holds a request, and what of it is passed on to the parent."""
    holds = all(plus(node.usage.get(key, 0), amount) <= node.subtree.get(key, 0) for key, amount in asked.items())
    return holds, {key: max(0, minus(amount, node.unused_kept(key))) for key, amount in asked.items()}
