"""What the scheduler writes after a cycle: who got quota, who has to go, and why the others wait.

Restated from kueue v0.19.2 pkg/scheduler/scheduler.go (admit, requeueAndUpdate) and preemption.go (IssuePreemptions).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from trainyard.upstream.kueue.assign.attempts import describe_attempts
from trainyard.upstream.kueue.cycle.entries import Entry
from trainyard.upstream.kueue.cycle.entries import Status as Became
from trainyard.upstream.kueue.cycle.scheduler import Scheduler
from trainyard.upstream.kueue.cycle.waiting import FAILED, GENERIC
from trainyard.upstream.kueue.preempt.need import FAIR, IN_QUEUE, RECLAIMED, WHILE_BORROWING, Target
from trainyard.upstream.kueue.quota.state import QueueState
from trainyard.upstream.kueue.replay.controller import Controller
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.status import PREEMPTED, Admission, AdmittedSet
from trainyard.upstream.pods.resources import CPU

BY_PREEMPTION = "Preempted"
DUE_TO = {
    IN_QUEUE: "prioritization in the ClusterQueue",
    RECLAIMED: "reclamation within the cohort",
    FAIR: "Fair Sharing within the cohort",
    WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


@dataclass(slots=True, eq=False)
class Writer:
    """Writes what became of heads, and takes note of when, and of what was tried."""

    controller: Controller
    scheduler: Scheduler
    admitted_in: dict[str, int] = field(default_factory=dict)
    borrowing: dict[str, bool] = field(default_factory=dict)
    considered: dict[str, str] = field(default_factory=dict)
    preempted_by: dict[str, str] = field(default_factory=dict)
    now: int = 0
    cycle: int = 0

    def write(self, entries: Iterable[Entry]) -> None:
        """Write what became of the heads of a cycle; quota is counted at once."""
        entries = list(entries)
        for entry in entries:
            if entry.status is Became.ADMITTED:
                self._admit(entry)
            elif entry.preempting:
                self._preempt(entry)
            elif entry.status is Became.EVICTED:
                self._evict(entry)
        for entry in entries:
            if entry.status not in (Became.ADMITTED, Became.EVICTED):
                self._requeue(entry)
        admitted = [self.controller.records[entry.pending.key] for entry in entries if entry.status is Became.ADMITTED]
        for record in admitted:
            self.controller.world.hold(record.held())
        for record in admitted:
            if self.admitted_in.get(record.key) == self.cycle:
                self.borrowing[record.key] = self._borrows(record)

    def _borrows(self, record: Record) -> bool:
        """Say whether the queue holds more than its nominal quota of something that the Workload uses."""
        admission = record.status.admission
        assert admission is not None
        node = self.scheduler.queues[admission.queue].node
        pairs = {(flavor, resource) for set_ in admission.sets for resource, flavor in set_.flavors.items()}
        return node.parent is not None and node.borrows_any(pairs & node.quotas.keys())

    def _admit(self, entry: Entry) -> None:
        assignment, queue = entry.assigned()
        record = self.controller.records[entry.pending.key]
        sets = tuple(
            AdmittedSet(
                set_.name,
                set_.count,
                {resource: choice.flavor for resource, choice in set_.flavors.items()},
                {resource: set_.requests[resource] for resource in set_.flavors if resource in set_.requests},
                set_.placement,
                set_.delayed,
            )
            for set_ in assignment.sets
        )
        fresh = not record.status.reserved
        record.status.lost = frozenset()
        record.status.reserve(Admission(queue.name, sets), self.now)
        flavors = {choice.flavor for set_ in assignment.sets for choice in set_.flavors.values()}
        needed = {name for name, only in queue.spec.checks.items() if only & flavors}
        if needed <= {check.name for check in record.status.checks}:
            record.status.sync_admitted(self.now)
        self.controller.expected.discard(record.key)
        self.controller.changed.add(record.key)
        if fresh:
            self._charge(entry, queue)
            self.considered[record.key] = describe_attempts({set_.name: set_.attempts for set_ in assignment.sets})
            self.admitted_in[record.key] = self.cycle

    def _charge(self, entry: Entry, queue: QueueState) -> None:
        """Charge the LocalQueue of a Workload that gets in."""
        ledger, workload = self.controller.ledger, entry.pending.workload
        if ledger is None or not queue.spec.usage_based:
            return
        amounts: dict[str, Decimal] = {}
        for set_ in entry.pending.sets:
            for resource, amount in set_.requests(set_.count).items():
                if self.scheduler.rules.ignore_undeclared and queue.spec.group_of(resource) is None:
                    continue
                part = Decimal(amount).scaleb(-3) if resource == CPU else Decimal(amount)
                amounts[resource] = amounts.get(resource, Decimal(0)) + part
        ledger.charge(f"{workload.namespace}/{workload.queue}", workload.key, amounts, self.now)

    def _evict(self, entry: Entry) -> None:
        """Have a Workload go whose failed node has no replacement."""
        record = self.controller.records[entry.pending.key]
        nodes = ",".join(sorted(record.status.lost))
        message = f"Workload was evicted as there was no replacement for unhealthy node(s): {nodes}"
        record.status.evict("NodeFailures", message, self.now)
        self.controller.changed.add(record.key)

    def _preempt(self, entry: Entry) -> None:
        _, queue = entry.assigned()
        for target in entry.targets:
            record = self.controller.records[target.held.key]
            if record.status.evicted or record.key in self.controller.expected:
                continue
            self.controller.expected.add(record.key)
            message = self._preemption_message(entry, queue, target)
            record.status.set(PREEMPTED, True, target.reason, message, self.now)
            record.status.evict(BY_PREEMPTION, message, self.now)
            self.preempted_by[record.key] = entry.pending.key
            self.controller.changed.add(record.key)

    def _preemption_message(self, entry: Entry, queue: QueueState, target: Target) -> str:
        workload = entry.pending.workload
        label = ((workload.source.get("metadata") or {}).get("labels") or {}).get("kueue.x-k8s.io/job-uid")
        other = self.scheduler.queues[target.held.queue]
        return (
            f"Preempted to accommodate a workload (UID: {workload.uid or 'UNKNOWN'}, JobUID: {label or 'UNKNOWN'}) "
            f"due to {DUE_TO[target.reason]}; preemptor path: {_path(queue)}; preemptee path: {_path(other)}"
        )

    def _requeue(self, entry: Entry) -> None:
        """Put a head back that got nothing, and write why."""
        controller, pending = self.controller, entry.pending
        if entry.status is not Became.NOT_NOMINATED and entry.why == GENERIC:
            entry.why = FAILED
        record = controller.records[pending.key]
        if controller.second.ask(record, pending.second, self.now):
            return
        queue, exists = controller.world.queue_of(record.workload.namespace, record.workload.queue)
        if record.admissible and exists:
            pending.ordered, pending.stamp = record.ordered(), record.stamp()
            controller.world.waiting[queue].requeue(pending, entry.why, entry.code, ready=record.ready())
        reason = controller.reconciler.reason(entry.code, "Pending")
        record.status.release(reason, entry.message, self.now)
        record.status.told = True
        controller.changed.add(record.key)


def _path(queue: QueueState) -> str:
    names = [queue.name, *(quota_node.name for quota_node in queue.node.path())]
    return "/" + "/".join(reversed(names))
