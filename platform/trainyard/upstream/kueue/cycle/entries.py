"""What is known of one head during a cycle."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from trainyard.upstream.kueue.assign.assignment import Assignment, Placed
from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.cycle.waiting import GENERIC
from trainyard.upstream.kueue.model.placements import PlacedPods
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.preempt.need import Target
from trainyard.upstream.kueue.quota.state import QueueState


class Status(Enum):
    """What became of a head; the first is that it was not considered, or waits for others to go."""

    NOT_NOMINATED = ""
    SKIPPED = "skipped"
    EVICTED = "evicted"
    ADMITTED = "assumed"


@dataclass(slots=True, eq=False)
class Entry:
    """A head with its queue, None for one that takes no part."""

    pending: Pending
    queue: QueueState | None
    assignment: Assignment | None = None
    targets: list[Target] = field(default_factory=list)
    status: Status = Status.NOT_NOMINATED
    message: str = ""
    why: str = GENERIC
    code: str = ""
    silent: bool = False
    preempting: bool = False

    def assigned(self) -> tuple[Assignment, QueueState]:
        """Return the assignment of the head, and its queue."""
        assert self.assignment is not None
        assert self.queue is not None
        return self.assignment, self.queue

    def record(self, assignment: Assignment, targets: list[Target]) -> None:
        """Note what the head would get, and at whose expense."""
        self.assignment, self.targets = assignment, targets
        self.message = assignment.message()
        self.pending.progress = assignment.progress

    def skip(self, message: str, code: str, *, keeps_progress: bool) -> None:
        """Note that an earlier head was in the way."""
        self.status, self.message, self.code = Status.SKIPPED, message, code
        if not keeps_progress:
            self.pending.progress = None

    def placed(self) -> Placed:
        """Return the pods that the head would add to topologies."""
        assignment, queue = self.assigned()
        found = assignment.placed({set_.name: set_.pod for set_ in self.pending.sets}, queue.places)
        return new_pods(found, self.pending) if self.pending.holding else found

    def usage(self) -> dict[FlavorResource, int]:
        """Return the quota that the head would use; what it holds already is counted."""
        assignment, _ = self.assigned()
        return {} if self.pending.reserved else assignment.usage


def new_pods(placed: Placed, pending: Pending) -> Placed:
    """Return pods in topologies beyond those that are there already."""
    there: dict[tuple[str, ...], int] = {}
    for held in pending.holding:
        for domain in held.placement.domains if held.placement else ():
            there[domain.values] = there.get(domain.values, 0) + domain.count
    found: Placed = {}
    for flavor, pods in placed.items():
        for pod in pods:
            known = min(there.get(pod.values, 0), pod.count)
            there[pod.values] = there.get(pod.values, 0) - known
            if pod.count > known:
                found.setdefault(flavor, []).append(PlacedPods(pod.values, pod.pod, pod.count - known))
    return found
