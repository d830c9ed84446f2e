"""Who goes first, and whom a policy allows to preempt (kueue v0.19.2 pkg/scheduler/preemption/common)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key

from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import ANY, LOWER, LOWER_OR_NEWER, FlavorResource
from trainyard.upstream.kueue.preempt.need import Need
from trainyard.upstream.kueue.quota.state import Held, QueueState

BUFFER = 5 * 60 * 10**9
"""Nanoseconds by which a Workload has to be newer, where the gate for it is on (preemption_policy.go)."""


Users = dict[tuple[str, frozenset[FlavorResource]], list[Held]]
"""By queue, who has any of some flavors' resources, in the order in which they go."""


class Ordering:
    """The order of candidates: evicted ones, those of other queues, heavy users, the least, the newest.

    `known` is kept as long as the same Workloads hold quota.
    """

    def __init__(self, queue: str, now: int, by_usage: bool, known: Users) -> None:
        self.queue, self.now, self.by_usage, self.known = queue, now, by_usage, known

    def usable(self, need: Need, queue: QueueState, policy: str, gates: Gates) -> list[Held]:
        """Return the Workloads of a queue that have what is scarce, and that a policy lets the one in need preempt."""
        pending = need.pending
        there = self._users(queue, need.scarce)
        if policy == ANY:
            return there
        own = pending.priority
        if policy == LOWER:
            return [holder for holder in there if own > holder.priority]
        if policy != LOWER_OR_NEWER:
            return []
        since = pending.ordered + (BUFFER if gates["SchedulerTimestampPreemptionBuffer"] else 0)
        return [
            holder for holder in there if own > holder.priority or (own == holder.priority and holder.ordered > since)
        ]

    def _users(self, queue: QueueState, scarce: frozenset[FlavorResource]) -> list[Held]:
        key = queue.name, scarce
        if key not in self.known:
            found = [workload for workload in queue.workloads.values() if workload.uses(scarce)]
            self.known[key] = found if self.by_usage else sorted(found, key=self._key)
        return self.known[key]

    def sort(self, candidates: Iterable[Held]) -> list[Held]:
        """Return candidates in the order in which they go."""
        if self.by_usage:
            return sorted(candidates, key=cmp_to_key(self.compare))
        return sorted(candidates, key=self._key)

    def compare(self, left: Held, right: Held) -> int:
        """Return whether the left goes first (-1), the right (1), or neither (0)."""
        first, second = self._key(left), self._key(right)
        if self.by_usage and first[:2] == second[:2] and self._comparable(left, right):
            assert left.shared_usage is not None
            assert right.shared_usage is not None
            if left.shared_usage != right.shared_usage:
                return 1 if left.shared_usage < right.shared_usage else -1
        return (first > second) - (first < second)

    def _comparable(self, left: Held, right: Held) -> bool:
        return (
            left.queue == right.queue
            and left.workload.queue != right.workload.queue
            and left.shared_usage is not None
            and right.shared_usage is not None
        )

    def _key(self, held: Held) -> tuple[bool, bool, int, int, str]:
        reserved = self.now if held.reserved is None else held.reserved
        return not held.evicted, held.queue == self.queue, held.priority, -reserved, held.workload.uid
