"""Cycles until nothing changes, with evictions carried out, as a cluster would that does nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.cycle.entries import Entry
from trainyard.upstream.kueue.cycle.scheduler import Scheduler
from trainyard.upstream.kueue.cycle.waiting import GENERIC, OTHER_NAMESPACE
from trainyard.upstream.kueue.quota.state import QueueState
from trainyard.upstream.kueue.replay.case import CYCLE, REST, SECOND, SETTLE
from trainyard.upstream.kueue.replay.controller import Controller
from trainyard.upstream.kueue.replay.reconcile import NO_NAMESPACE_MATCH
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.status import (
    EVICTED,
    PREEMPTED,
    QUOTA,
    REJECTED,
    REQUEUED,
    RETRY,
    Status,
)
from trainyard.upstream.kueue.replay.writer import BY_PREEMPTION, Writer

MAX_CYCLES = 200
MAX_EVICTIONS = 6
"""Cycles, and evictions of one Workload, after which nothing is expected to settle any more.

A queue admits one Workload a cycle, so there are two cycles at least for each Workload.
"""
IDLE_CYCLES = 8
"""Cycles without change after which nothing changes any more: more than there are flavors to go through.

At rest there was also no Workload in them that was not looked at since the last change.
"""
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Eviction:
    """When and why a Workload lost its quota, and for whom."""

    cycle: int
    reason: str
    by: str = ""
    detail: str = ""


class Unrest(Exception):  # noqa: N818  # it is an answer
    """The controller goes on changing a Workload for ever."""


@dataclass(slots=True, eq=False)
class Simulation:
    """A case under way."""

    controller: Controller
    scheduler: Scheduler
    writer: Writer
    now: int
    evictions: dict[str, list[Eviction]] = field(default_factory=dict)
    messages: dict[str, set[str]] = field(default_factory=dict)
    restless: dict[str, set[str]] = field(default_factory=dict)
    cycle: int = 0
    last_change: int = 0
    settled: bool = False
    seen: set[str] = field(default_factory=set)
    """Whom cycles looked at since the last change."""
    last_new: int = 0
    """The last cycle that looked at somebody for the first time since."""

    def run(self, mode: str) -> None:
        """Run one cycle, or as many as it takes."""
        self.controller.process_retries()
        if mode in {SETTLE, REST}:
            self._end_evictions()
            self.deliver()
        idle, most = 0, max(MAX_CYCLES, 2 * len(self.controller.records))
        while self.cycle < most:
            again = bool(self.controller.second.timers)
            self.now += SECOND
            self.controller.second.fire(self.now)
            if not self._waits() and not (again and not self.controller.second.timers):
                self.settled = not again
                self.messages.clear()
                idle += 1
                if not again or mode == CYCLE or idle > IDLE_CYCLES:
                    self.settled = self.settled or mode != CYCLE
                    return
                continue
            self._cycle()
            changed = self.deliver()
            if mode == CYCLE:
                self.last_change = self.cycle
                return
            self._end_evictions()
            changed = self.deliver() or changed
            if any(len(eviction) >= MAX_EVICTIONS for eviction in self.evictions.values()):
                return
            if changed:
                idle, self.last_change = 0, self.cycle
                self.messages.clear()
                self.seen.clear()
                continue
            idle += 1
            if idle > 1:
                self._note_messages()
            everyone = mode == SETTLE or self.cycle - self.last_new > IDLE_CYCLES
            if idle > IDLE_CYCLES and everyone:
                self.settled = True
                return

    def _waits(self) -> bool:
        """Say whether a cycle would find a Workload."""
        world = self.controller.world
        return any(world.waiting[name].heap for name in world.active)

    def heads(self) -> list[Pending]:
        """Take the head of every active queue."""
        world, records = self.controller.world, self.controller.records
        looked_at = self.controller.second.take().items()
        found = [records[key].again(number) for key, number in looked_at if records[key].status.reserved]
        for name in sorted(world.active):
            pending = world.waiting[name].pop()
            if pending is not None:
                pending.preemptor = world.waiting[name].preemptor == pending.key
                found.append(pending)
        keys = {one_pending.key for one_pending in found}
        if keys - self.seen:
            self.last_new = self.cycle
            self.seen |= keys
        return found

    def admissible(self, pending: Pending, queue: QueueState | None) -> Entry | None:
        """Return the entry of a Workload that cannot be considered, None for one that can."""
        record = self.controller.records[pending.key]
        states = {check.state for check in record.status.checks}
        if RETRY in states or REJECTED in states:
            message, code = "The workload has failed admission checks", "PendingEvaluation"
            return Entry(pending, None, message=message, code=code)
        if queue is None:
            return Entry(pending, None, message=f"ClusterQueue {pending.queue} is inactive", code="Suspended")
        refused = self.controller.reconciler.admissibility(record, pending.queue)
        if refused is None:
            return None
        why = OTHER_NAMESPACE if refused == NO_NAMESPACE_MATCH else GENERIC
        return Entry(pending, None, message=refused, code="Misconfigured", why=why)

    def _weigh(self) -> None:
        """Note for candidates how heavily their LocalQueues used what they may use."""
        world, ledger = self.controller.world, self.controller.ledger
        for state in world.active.values() if ledger is not None else ():
            for held in state.workloads.values() if state.spec.usage_based else ():
                assert ledger is not None
                held.shared_usage = world.usage(ledger, held.workload)

    def _cycle(self) -> None:
        self.cycle += 1
        self._weigh()
        self.writer.now, self.writer.cycle = self.now, self.cycle
        self.writer.write(self.scheduler.cycle(self.heads(), self.now))

    def deliver(self) -> bool:
        """Have the controller look at what was written until it writes no more. Says whether it mattered."""
        controller, changed = self.controller, False
        for number in range(2 * ROUNDS):
            fresh = []
            for key in sorted(controller.changed):
                record, before = controller.records[key], controller.delivered[key]
                if record.status.facts() == before.facts():
                    continue
                different = record.status.substance() != before.substance()
                changed = changed or different
                if number >= ROUNDS:
                    if different:
                        raise Unrest(f"the workload controller never finishes workload {key}")
                    self._note(self.restless, record)
                controller.delivered[key] = record.status.copy()
                self._note_eviction(record, before)
                controller.updated(record, before)
                fresh.append(record)
            controller.changed = set()
            if not fresh:
                break
            for record in fresh:
                controller.reconciler.reconcile(record)
                controller.changed.add(record.key)
        controller.process_retries()
        return changed

    def _note_eviction(self, record: Record, before: Status) -> None:
        status = record.status
        if not status.evicted or before.evicted or not before.reserved:
            return
        reason = status.conditions[EVICTED].reason
        if reason == BY_PREEMPTION:
            detail = status.conditions[PREEMPTED].reason
            made = Eviction(self.cycle, reason, self.writer.preempted_by.get(record.key, ""), detail)
        else:
            made = Eviction(self.cycle, reason)
        self.evictions.setdefault(record.key, []).append(made)

    def _end_evictions(self) -> None:
        """Do what the controllers of jobs do: the pods stop, and the quota is free."""
        for record in self.controller.records.values():
            status = record.status
            if not (status.evicted and status.reserved):
                continue
            evicted = status.conditions[EVICTED]
            again = evicted.reason in (BY_PREEMPTION, "NodeFailures")
            status.set(REQUEUED, again, evicted.reason, evicted.message, self.now)
            status.release(self.controller.reconciler.reason("PendingEvaluation", "Pending"), evicted.message, self.now)
            self.controller.changed.add(record.key)

    def _note_messages(self) -> None:
        for record in self.controller.records.values():
            if not record.status.reserved:
                self._note(self.messages, record)

    def _note(self, notes: dict[str, set[str]], record: Record) -> None:
        condition = record.status.conditions.get(QUOTA)
        if condition is not None and not condition.true:
            notes.setdefault(record.key, set()).add(condition.message)
