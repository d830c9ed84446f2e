"""What Kueue's workload controller writes itself: checks, gates, evictions, and the last word on what cannot be queued.

Restated from kueue v0.19.2 pkg/controller/core/workload_controller.go Reconcile, as far as nothing outside changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import DRAIN, RUN
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.status import (
    QUOTA,
    REJECTED,
    REQUEUED,
    RETRY,
    TARGET,
    Check,
    Condition,
    Status,
)
from trainyard.upstream.kueue.replay.world import World
from trainyard.upstream.pods.selection import selects

Spec = Mapping[str, Any]

GATED = "AdmissionGated"
DEACTIVATED = "Deactivated"
SCHEDULED = frozenset(
    {
        *("WaitingForQuota", "NoMatchingFlavor", "ExceedsMaxQuota", "TopologyPlacementFailed"),
        *("WaitingForPreemptedWorkloads", "WaitingForPodsReady", "PendingEvaluation"),
    }
)
"""Reasons that the scheduler gives, which the controller leaves alone."""

ALIKE = "Bypassed scheduling evaluation because an equivalent workload recently failed"
NO_NAMESPACE_MATCH = "workload namespace doesn't match ClusterQueue selector"


@dataclass(slots=True, eq=False)
class Reconciler:
    """Looks at one Workload at a time. `clock` gives the time, in nanoseconds since 1970."""

    world: World
    gates: Gates
    namespaces: dict[str, dict[str, str]]
    refusal: Callable[[Workload, Sequence[Spec]], str | None]
    clock: Callable[[], int]
    refused: dict[tuple[str, bool], str | None] = field(default_factory=dict)
    """By Workload, why it may not be admitted whatever its queue; pods do not change."""

    @property
    def observed(self) -> bool:
        """Whether conditions have reasons of their own, where they would be Pending or Inadmissible."""
        return self.gates["UnadmittedWorkloadsObservability"]

    def reason(self, own: str, otherwise: str) -> str:
        """Return the reason of a condition."""
        return own if self.observed else otherwise

    def reconcile(self, record: Record) -> None:
        """Have the controller look at a Workload."""
        status = record.status
        if status.finished:
            return
        if record.devices is not None and not status.reserved:
            self._refuse_devices(record, record.devices)
            return
        if status.active:
            if status.true(TARGET):
                status.active = False
                return
            if self._requeued_again(status):
                return
        elif not status.evicted:
            self._deactivate(status)
            return
        if self._gate(record):
            return
        self._reconcile_queue(record)

    def _refuse_devices(self, record: Record, message: str) -> None:
        """Say why devices are not counted; raises ValueError where Kueue would try again for ever."""
        if ": Internal error: " in message:
            raise ValueError(f"reconciling workload {record.key}: {message}")
        status, now = record.status, self.clock()
        if status.release(self.reason("Misconfigured", "Inadmissible"), message, now):
            status.set(REQUEUED, False, "Inadmissible", message, now)

    def _requeued_again(self, status: Status) -> bool:
        """Let an evicted Workload queue again where nothing but a pause kept it. Says whether it was so."""
        requeued = status.conditions.get(REQUEUED)
        if requeued is None or requeued.true:
            return False
        if requeued.reason == DEACTIVATED:
            return status.set(REQUEUED, True, "Reactivated", "The workload was reactivated", self.clock())
        if requeued.reason in ("PodsReadyTimeout", "AdmissionCheck"):
            message = "The workload backoff was finished"
            return status.set(REQUEUED, True, "BackoffFinished", message, self.clock())
        return False

    def _deactivate(self, status: Status) -> None:
        reason, message = DEACTIVATED, "The workload is deactivated"
        target = status.conditions.pop(TARGET, None)
        if target is not None:
            reason, message = f"{DEACTIVATED}DueTo{target.reason}", f"{message} due to {target.message}"
        status.evict(reason, message, self.clock())

    def _gate(self, record: Record) -> bool:
        """Note that an annotation holds the Workload back, or does no longer. Says whether anything was noted."""
        condition = record.status.conditions.get(QUOTA)
        noted = condition is not None and condition.reason == GATED
        if bool(record.gated) == noted:
            return False
        if noted:
            reason = self.reason("PendingEvaluation", "Pending")
            record.status.release(reason, "AdmissionGatedBy cleared, waiting for quota reservation", self.clock())
        else:
            record.status.release(GATED, f"Admission is gated by: {record.gated}", self.clock())
        return True

    def _reconcile_queue(self, record: Record) -> None:
        status, workload, now = record.status, record.workload, self.clock()
        queue, exists = self.world.queue_of(workload.namespace, workload.queue)
        if exists and self._sync_checks(record, queue):
            return
        if not status.admitted:
            if not status.reserved:
                self._say_why(record, queue, exists)
            status.sync_admitted(now)
        if status.reserved and not self._evict_for_checks(status):
            self._evict_for_stop(record, queue)

    def _sync_checks(self, record: Record, queue: str) -> bool:
        """Bring the list of checks up to date. Says whether it was not."""
        status, spec = record.status, self.world.states[queue].spec
        if status.admission is not None:
            flavors = {flavor for one in status.admission.sets for flavor in one.flavors.values()}
            wanted = {name for name, only in spec.checks.items() if only & flavors}
        else:
            wanted = {name for name, only in spec.checks.items() if only >= spec.flavors}
        known = {check.name for check in status.checks}
        if not wanted:
            changed = bool(status.checks)
            status.checks = ()
            return changed
        if wanted <= known and len(status.checks) <= len(wanted):
            return False
        kept = [check for check in status.checks if check.name in wanted]
        kept += [Check(name) for name in wanted - known]
        status.checks = tuple(sorted(kept, key=lambda check: check.name))
        return True

    def _say_why(self, record: Record, queue: str, exists: bool) -> None:
        """Write why a Workload cannot be queued, unless the scheduler has said something about it."""
        reason, message = self.blocker(record, queue, exists)
        if self.observed:
            reason, message = self._granular(record, queue, exists, reason, message)
        elif message:
            reason = "Inadmissible"
        if reason:
            record.status.set(QUOTA, False, reason, message, self.clock())

    def blocker(self, record: Record, queue: str, exists: bool) -> tuple[str, str]:
        """Return reason and message that keep a Workload from its queue."""
        workload = record.workload
        local = self.world.local.get(f"{workload.namespace}/{workload.queue}")
        if local is None:
            return "Misconfigured", f"LocalQueue {workload.queue} doesn't exist"
        if local.stop != RUN:
            return "Suspended", f"LocalQueue {workload.queue} is inactive"
        if not exists:
            return "Misconfigured", f"ClusterQueue {queue} doesn't exist"
        if queue in self.world.inactive:
            return "Suspended", f"ClusterQueue {queue} is inactive"
        return "", ""

    def _granular(self, record: Record, queue: str, exists: bool, reason: str, message: str) -> tuple[str, str]:
        condition = record.status.conditions.get(QUOTA)
        if not record.status.active:
            return DEACTIVATED, "The workload is deactivated"
        if reason:
            return reason, message
        refused = self.admissibility(record, queue, as_written=True) if exists else None
        if refused is not None:
            return "Misconfigured", refused
        if record.gated:
            return GATED, f"Admission is gated by: {record.gated}"
        if self._asks_alike(condition):
            waiting = self.world.waiting[queue]
            parked = waiting.parked.get(record.key)
            if parked is not None and parked.shape in waiting.alike:
                return waiting.alike[parked.shape], ALIKE
        if condition is not None and condition.reason in SCHEDULED:
            return condition.reason, condition.message
        if condition is None and not self.gates["UnadmittedWorkloadsExplicitStatus"]:
            return "", ""
        return "PendingEvaluation", "Workload is pending evaluation in the scheduling queue"

    def _asks_alike(self, condition: Condition | None) -> bool:
        if not self.gates["SchedulingEquivalenceHashing"]:
            return False
        if condition is None:
            return self.gates["UnadmittedWorkloadsExplicitStatus"]
        return condition.reason in ("", DEACTIVATED, "PendingEvaluation", "Suspended", "Pending")

    def admissibility(self, record: Record, queue: str, *, as_written: bool = False) -> str | None:
        """Return why a Workload may not be admitted in a queue, whatever its quota (ValidateAdmissibility).

        The scheduler looks at pods as they are counted; the controller, as they are written.
        """
        labels = self.namespaces[record.workload.namespace]
        if not selects(self.world.states[queue].spec.selector, labels):
            return NO_NAMESPACE_MATCH
        key = (record.key, as_written)
        if key not in self.refused:
            specs = [pod_set.spec for pod_set in record.workload.pod_sets] if as_written else record.specs
            self.refused[key] = self.refusal(record.workload, specs)
        return self.refused[key]

    def _evict_for_checks(self, status: Status) -> bool:
        """Evict, or deactivate, where a check says no. Says whether one did."""
        rejected = [check for check in status.checks if check.state == REJECTED]
        retried = [check for check in status.checks if check.state == RETRY]
        if status.evicted or not (rejected or retried):
            return False
        if rejected:
            status.set(TARGET, True, "AdmissionCheck", _checks_text(rejected, REJECTED), self.clock())
        else:
            status.evict("AdmissionCheck", f"Evicted due to {_checks_text(retried, RETRY)}", self.clock())
        return True

    def _evict_for_stop(self, record: Record, queue: str) -> None:
        """Evict where the queue is stopped, and release quota that is only reserved."""
        status, workload, now = record.status, record.workload, self.clock()
        local = self.world.local.get(f"{workload.namespace}/{workload.queue}")
        state = self.world.states.get(queue)
        if status.admitted:
            if status.evicted:
                return
            if local is not None and local.stop == DRAIN:
                status.evict("LocalQueueStopped", "The LocalQueue is stopped", now)
            elif state is not None and state.spec.stop == DRAIN:
                status.evict("ClusterQueueStopped", "The ClusterQueue is stopped", now)
            return
        for own, message in self._stopped(workload, queue):
            status.release(self.reason(own, "Inadmissible"), message, now)
            return

    def _stopped(self, workload: Workload, queue: str) -> Iterable[tuple[str, str]]:
        local = self.world.local.get(f"{workload.namespace}/{workload.queue}")
        if local is None:
            yield "Misconfigured", f"LocalQueue {workload.queue} is terminating or missing"
            return
        if local.stop != RUN:
            yield "Suspended", f"LocalQueue {workload.queue} is stopped"
        state = self.world.states.get(queue)
        if state is None:
            yield "Misconfigured", f"ClusterQueue {queue} is terminating or missing"
        elif state.spec.stop != RUN:
            yield "Suspended", f"ClusterQueue {queue} is stopped"


def _checks_text(checks: list[Check], state: str) -> str:
    parts = [f'"{check.name}" ({check.message})' if check.message else f'"{check.name}"' for check in checks]
    return f"AdmissionCheck{'s' if len(checks) > 1 else ''} in {state} state: {'; '.join(parts)}"
