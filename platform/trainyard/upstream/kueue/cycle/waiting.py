"""Workloads that wait in a queue: those whose turn comes, and those that are parked until something changes.

Restated from kueue v0.19.2 pkg/cache/queue/cluster_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.cycle.heap import Heap
from trainyard.upstream.kueue.model.queues import BEST_EFFORT, STRICT

GENERIC, FAILED, OTHER_NAMESPACE, GATED = "", "FailedAfterNomination", "NamespaceMismatch", "PreemptionGated"
PREEMPTING, NO_FIT, NO_CANDIDATES = "PendingPreemption", "NoFit", "PreemptionNoCandidates"
AT_ONCE = (FAILED, PREEMPTING, "PendingMigration", "PreemptionFailed")
"""Why a Workload comes back to its queue; those of AT_ONCE do not park it."""

Place = tuple[int, int, str]
"""What Workloads are ordered by: priority, age and UID."""

Usage = Callable[[Pending], float]


@dataclass(slots=True, eq=False)
class Waiting:
    """The Workloads of one queue that hold no quota.

    `usage` is given where those of light users go first, and `charged` says whether any of these has open charges.
    """

    strategy: str = BEST_EFFORT
    usage: Usage | None = None
    charged: Callable[[], bool] | None = None
    heap: Heap = field(init=False)
    parked: dict[str, Pending] = field(default_factory=dict)
    alike: dict[object, str] = field(default_factory=dict)
    inflight: Pending | None = None
    preemptor: str | None = None
    popped: int = 0
    retried: int = -1

    def __post_init__(self) -> None:
        self.heap = Heap(self._place)

    def __contains__(self, key: str) -> bool:
        """Say whether a Workload waits here, for its turn or for a change."""
        return key in self.parked or key in self.heap

    def push(self, pending: Pending, *, ready: bool, unchanged: Callable[[Pending, Pending], bool]) -> None:
        """Add a Workload, or what became of one; `ready` says that it need not wait for its time."""
        key = pending.key
        if self.inflight is not None and self.inflight.key == key:
            return
        before = self.parked.get(key)
        if before is not None:
            if unchanged(before, pending):
                self.parked[key] = pending
                return
            del self.parked[key]
        alike = self.strategy == BEST_EFFORT and pending.shape is not None and pending.shape in self.alike
        if key not in self.heap and (alike or not ready):
            self.parked[key] = pending
        else:
            self.heap.put(pending)

    def pop(self) -> Pending | None:
        """Take the head."""
        if self.charged is not None and self.charged():
            self.heap.renew()
        self.popped += 1
        self.inflight = self.heap.pop() if self.heap else None
        return self.inflight

    def requeue(self, pending: Pending, why: str, code: str, *, ready: bool) -> bool:
        """Put back a Workload that got no quota: into the heap, or parked, with all that are alike."""
        key = pending.key
        if why in (PREEMPTING, "PendingMigration"):
            self.preemptor = key
        if self.inflight is not None and self.inflight.key == key:
            self.inflight = None
        at_once = why != OTHER_NAMESPACE if self.strategy == STRICT else why in AT_ONCE
        left = pending.progress is not None and pending.progress.pending
        if ready and (at_once or self.retried >= self.popped or left):
            before = self.parked.pop(key, None)
            if key in self.heap:
                return False
            self.heap.put(before or pending)
            return True
        if key in self.parked or key in self.heap:
            return False
        self.parked[key] = pending
        if why in (NO_FIT, NO_CANDIDATES) and pending.shape is not None and self.strategy == BEST_EFFORT:
            self.alike[pending.shape] = code or "PendingEvaluation"
            for item in [one_pending for one_pending in self.heap.items if one_pending.shape == pending.shape]:
                self.parked[item.key] = self.heap.take(item.key)
        return True

    def retry(self, eligible: Callable[[Pending], bool]) -> None:
        """Give all that are parked another turn."""
        self.retried = self.popped
        self.alike = {}
        for key, pending in list(self.parked.items()):
            if eligible(pending):
                del self.parked[key]
                self.heap.put(pending)

    def delete(self, key: str) -> None:
        """Forget a Workload."""
        self.parked.pop(key, None)
        if key in self.heap:
            self.heap.take(key)
        if self.inflight is not None and self.inflight.key == key:
            self.inflight = None
        if self.preemptor == key:
            self.preemptor = None

    def tracked(self, key: str) -> Pending | None:
        """Return a Workload, wherever it waits."""
        found = self.heap.get(key) or self.parked.get(key)
        if found is None and self.inflight is not None and self.inflight.key == key:
            return self.inflight
        return found

    def _place(self, pending: Pending) -> tuple[float, bool, Place]:
        """Return the sort key of Workloads: usage, then the one that preempts, then priority and time."""
        sticky = self.strategy == BEST_EFFORT and self.preemptor == pending.key
        return self.usage(pending) if self.usage is not None else 0.0, not sticky, place(pending)


def place(pending: Pending) -> Place:
    """Return the sort key of a Workload: priority, time and id."""
    return -pending.priority, pending.ordered, pending.workload.uid
