"""What Kueue's workload controller makes of changes: it feeds the queues, and counts what is held.

Restated from kueue v0.19.2 pkg/controller/core/workload_controller.go, its handlers of events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.cycle.ledger import Ledger
from trainyard.upstream.kueue.replay.reconcile import Reconciler
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.second import SecondLook
from trainyard.upstream.kueue.replay.status import Status
from trainyard.upstream.kueue.replay.world import World
from trainyard.upstream.pods.selection import selects


@dataclass(slots=True, eq=False)
class Controller:
    """The controller over the Workloads of a case.

    `delivered` is what it knows of them, `changed` which of them were written since, `retrying` the queues whose parked
    Workloads get another turn, `expected` the Workloads that were told to go and are not back in their queue.
    """

    world: World
    records: dict[str, Record]
    reconciler: Reconciler
    ledger: Ledger | None = None
    second: SecondLook = field(default_factory=SecondLook)
    delivered: dict[str, Status] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    retrying: set[str] = field(default_factory=set)
    expected: set[str] = field(default_factory=set)

    def created(self, record: Record) -> None:
        """Take note of a new Workload."""
        self.delivered[record.key] = record.status.copy()
        if record.status.finished:
            return
        if record.admissible:
            self.enqueue(record)
        elif record.status.reserved and record.status.active:
            self.world.hold(record.held())
            self.second.ask(record, 0, self.reconciler.clock())

    def enqueue(self, record: Record) -> None:
        """Queue a Workload, or what became of it."""
        workload = record.workload
        queue, exists = self.world.queue_of(workload.namespace, workload.queue)
        if not record.admissible or not queue:
            return
        record.pushed = True
        if not exists:
            return
        waiting, pending = self.world.waiting[queue], record.pending(queue)
        before = waiting.tracked(record.key)
        if before is not None and record.gates["FlavorFungibilityPreserveScanProgress"]:
            progress = before.progress
            if progress is not None and (progress.shape is None or progress.shape == pending.shape):
                pending.progress = progress
        waiting.push(pending, ready=record.ready(), unchanged=lambda old, new: old.stamp == new.stamp)
        self.expected.discard(record.key)

    def dequeue(self, record: Record) -> None:
        """Forget a Workload in the queues."""
        queue, exists = self.world.queue_of(record.workload.namespace, record.workload.queue)
        if record.pushed and exists:
            self.world.waiting[queue].delete(record.key)
            self.second.forget(record.key)

    def retry_after(self, record: Record) -> None:
        """Give the parked ones of a Workload's queue, and of its cohorts, another turn."""
        queue, exists = self.world.queue_of(record.workload.namespace, record.workload.queue)
        if record.pushed and exists:
            self.retrying.add(queue)

    def process_retries(self) -> None:
        """Give them that turn; the namespace still has to match."""
        names, roots = set(self.retrying), set[int]()
        for name in self.retrying:
            state = self.world.states.get(name)
            if state is not None and state.node.parent is not None:
                roots.add(id(state.node.root))
        if roots:
            names.update(name for name, state in self.world.states.items() if id(state.node.root) in roots)
        self.retrying = set()
        for name in names:
            if name in self.world.waiting and not self.circular(name):
                self.world.waiting[name].retry(lambda pending, name=name: self._eligible(pending, name))  # type: ignore[misc]

    def circular(self, name: str) -> bool:
        """Say whether a queue stands below cohorts in a cycle."""
        return self.world.inactive.get(name, ("", ""))[0] == "Ready"

    def _eligible(self, pending: Pending, queue: str) -> bool:
        labels = self.reconciler.namespaces.get(pending.workload.namespace)
        selector = self.world.states[queue].spec.selector
        return labels is not None and selects(selector, labels) and self.records[pending.key].ready()

    def updated(self, record: Record, before: Status) -> None:
        """Bring queues and quota up to date after a change."""
        old, new = before.phase, record.status.phase
        if new == "finished" or not record.status.active:
            self.dequeue(record)
            self.world.release(record.key)
            self.retry_after(record)
        elif old == new == "pending":
            self.enqueue(record)
        elif old == "pending":
            self.dequeue(record)
            self.world.hold(record.held())
        elif new == "pending":
            self.world.release(record.key)
            self.enqueue(record)
            self.retry_after(record)
            self.second.forget(record.key)
        elif record.status.reserved:
            self.world.hold(record.held())
        self.second.ask(record, 0, self.reconciler.clock())
        if self.ledger is not None:
            self._settle(self.ledger, record, old, new)

    def _settle(self, ledger: Ledger, record: Record, old: str, new: str) -> None:
        """Count the usage of a LocalQueue when one of its Workloads starts."""
        workload, admission = record.workload, record.status.admission
        key = f"{workload.namespace}/{workload.queue}"
        if new == "admitted" != old and record.status.active and admission is not None:
            state = self.world.states[admission.queue]
            if state.spec.usage_based and key in self.world.local:
                used = self.world.used_by(workload.namespace, workload.queue, admission.queue)
                ledger.settle(key, record.key, used, self.reconciler.clock())
        elif new == "finished" or not (record.status.active or record.status.reserved):
            ledger.forgive(key, record.key)
