"""Victims by fair shares (kueue v0.19.2 pkg/scheduler/preemption, fairsharing)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import NEVER
from trainyard.upstream.kueue.preempt.need import FAIR, IN_QUEUE, RECLAIMED, Need, Target
from trainyard.upstream.kueue.preempt.ordering import Ordering
from trainyard.upstream.kueue.quota.shares import LEAST, Share, share, share_without
from trainyard.upstream.kueue.quota.state import Held, QueueState
from trainyard.upstream.kueue.quota.tree import QuotaNode
from trainyard.upstream.kueue.topology import Crash

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"

Strategy = Callable[[Share, Share, Share], bool]
"""Decides by the preemptor's share with the Workload, and the target's before and after it loses one."""

STRATEGIES: dict[str, Strategy] = {
    FINAL: lambda mine, _before, after: mine.compare(after) <= 0,
    INITIAL: lambda mine, before, _after: mine.compare(before) < 0,
}


class Walk:
    """The walk over queues: from the root to the child with the largest share that has something to give."""

    def __init__(self, need: Need, candidates: Iterable[Held], ordering: Ordering, *, ends: bool) -> None:
        """`ends` is false where Kueue goes on from a queue without a cohort to a parent that it has not."""
        self.need, self.ordering, self.ends = need, ordering, ends
        self.ancestors = set(need.queue.node.path())
        self.waiting: dict[str, list[Held]] = {}
        self.closed: set[QuotaNode] = set()
        for candidate in candidates:
            self.waiting.setdefault(candidate.queue, []).append(candidate)

    def queues(self) -> Iterator[QueueState]:
        """Yield the next queue as long as there is one; whoever asks takes one of its Workloads, or drops it.

        Raises Crash where Kueue does, for a queue without a cohort.
        """
        own = self.need.queue
        if own.node.parent is None:
            while own.node not in self.closed and self.waiting.get(own.name):
                yield own
            if not self.ends:
                raise Crash("fair sharing looks for the cohort of a queue that has none")
            return
        root = own.node.root
        while root not in self.closed:
            found = self._next(root)
            if found is not None:
                yield self.need.queues[found.name]

    def pop(self, queue: QueueState) -> Held:
        """Take the next Workload of a queue."""
        return self.waiting[queue.name].pop(0)

    def drop(self, queue: QueueState) -> None:
        """Take no more of a queue."""
        self.closed.add(queue.node)

    def _next(self, cohort: QuotaNode) -> QuotaNode | None:
        queue, its = self._largest_queue(cohort)
        child, theirs = self._largest_cohort(cohort)
        if queue is None and child is None:
            self.closed.add(cohort)
            return None
        if child is not None and theirs.compare(its) >= 0:
            return self._next(child)
        return queue

    def _largest_queue(self, cohort: QuotaNode) -> tuple[QuotaNode | None, Share]:
        largest, most = None, LEAST
        for node in cohort.queues:
            if node in self.closed:
                continue
            current = share(node)
            waiting = self.waiting.get(node.name)
            if not waiting or (not current.borrowing and node is not self.need.queue.node):
                self.closed.add(node)
                continue
            order = current.compare(most)
            if order > 0:
                largest, most = node, current
            elif order == 0 and largest is not None:
                other = self.waiting[largest.name][0]
                if self.ordering.compare(waiting[0], other) < 0:
                    largest = node
        return largest, most

    def _largest_cohort(self, cohort: QuotaNode) -> tuple[QuotaNode | None, Share]:
        largest, most = None, LEAST
        for node in cohort.cohorts:
            if node in self.closed:
                continue
            current = share(node)
            if not current.borrowing and node not in self.ancestors:
                self.closed.add(node)
            elif current.compare(most) >= 0:
                largest, most = node, current
        return largest, most

    def sides(self, queue: QueueState) -> tuple[QuotaNode, QuotaNode]:
        """Return the nodes below the lowest common cohort, the preemptor's and the target's."""
        common = next(quota_node for quota_node in queue.node.path() if quota_node in self.ancestors)
        return _below(self.need.queue.node, common), _below(queue.node, common)


def _below(node: QuotaNode, common: QuotaNode) -> QuotaNode:
    while node.parent is not common:
        assert node.parent is not None
        node = node.parent
    return node


class Fair:
    """The search for victims of one need."""

    def __init__(self, need: Need, ordering: Ordering, gates: Gates, strategies: tuple[str, ...]) -> None:
        self.need, self.ordering, self.gates, self.strategies = need, ordering, gates, strategies
        self.tie = Ordering(ordering.queue, ordering.now, by_usage=False, known={})
        self.targets_found: list[Target] = []

    def targets(self) -> list[Target]:
        """Return who has to go, nobody if it would not help."""
        candidates = self.ordering.sort(self._candidates())
        if not candidates:
            return []
        self.need.queue.add(self.need.usage, {})
        fits, retry = self._first(candidates, STRATEGIES[self.strategies[0]])
        if not fits and len(self.strategies) > 1:
            fits = self._second(retry)
        self.need.queue.remove(self.need.usage, {})
        targets = self.need.spared(self.targets_found, True) if fits else self.targets_found
        self.need.put_all(targets)
        return targets if fits else []

    def _candidates(self) -> Iterator[Held]:
        need, rule = self.need, self.need.queue.spec.preemption
        if rule.within != NEVER:
            yield from self.ordering.usable(need, need.queue, rule.within, self.gates)
        if need.queue.node.parent is None or rule.reclaim == NEVER:
            return
        for node in need.queue.node.root.below():
            if node is not need.queue.node and node.borrows_any(need.scarce):
                yield from self.ordering.usable(need, need.queues[node.name], rule.reclaim, self.gates)

    def _goes(self, held: Held, reason: str) -> bool:
        """Take a victim; says whether the Workload fits now."""
        need = self.need
        need.take(held)
        self.targets_found.append(Target(held, reason))
        need.queue.remove(need.usage, {})
        fits = need.fits(True)
        need.queue.add(need.usage, {})
        return fits

    def _first(self, candidates: list[Held], strategy: Strategy) -> tuple[bool, list[Held]]:
        """Go by the first strategy; returns whether the Workload fits, and who did not have to go by it."""
        walk, retry = Walk(self.need, candidates, self.tie, ends=self.gates.ends_alone), list[Held]()
        entitled = self.gates["FairSharingPreemptWithinNominal"] and not self.need.queue.node.borrows_any(
            self.need.scarce
        )
        for queue in walk.queues():
            if queue is self.need.queue or entitled:
                if self._goes(walk.pop(queue), IN_QUEUE if queue is self.need.queue else RECLAIMED):
                    return True, []
                continue
            mine, theirs = walk.sides(queue)
            my_share, before = share(mine), share(theirs)
            if math.isinf(my_share.weighted) and not math.isinf(before.weighted):
                while walk.waiting[queue.name]:
                    retry.append(walk.pop(queue))
                continue
            while walk.waiting[queue.name]:
                held = walk.pop(queue)
                if strategy(my_share, before, share_without(queue.node, held.usage, theirs)):
                    if self._goes(held, FAIR):
                        return True, []
                    break
                retry.append(held)
        return False, retry

    def _second(self, retry: list[Held]) -> bool:
        """Go by the second strategy, which takes one victim of each queue at most."""
        walk = Walk(self.need, retry, self.tie, ends=self.gates.ends_alone)
        for queue in walk.queues():
            mine, theirs = (share(side) for side in walk.sides(queue))
            held = walk.pop(queue)
            if STRATEGIES[INITIAL](mine, theirs, theirs) and self._goes(held, FAIR):
                return True
            walk.drop(queue)
        return False
