"""The status of a Workload: conditions, checks, and the quota that it holds (kueue v0.19.2 pkg/workload)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.upstream.kueue.model.placements import Placement

QUOTA, ADMITTED, EVICTED, PREEMPTED, REQUEUED, FINISHED, TARGET = (
    "QuotaReserved",
    "Admitted",
    "Evicted",
    "Preempted",
    "Requeued",
    "Finished",
    "DeactivationTarget",
)
PENDING, READY, RETRY, REJECTED = "Pending", "Ready", "Retry", "Rejected"


@dataclass(frozen=True, slots=True)
class Condition:
    """What is so, or not, and since when (nanoseconds since 1970)."""

    true: bool
    reason: str
    message: str
    since: int


@dataclass(frozen=True, slots=True)
class Check:
    """The state of an admission check for one Workload."""

    name: str
    state: str = PENDING
    message: str = ""
    updates: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class AdmittedSet:
    """What a pod set got; `written` is how its usage is written, where it came with the case."""

    name: str
    count: int
    flavors: Mapping[str, str]
    usage: Mapping[str, int]
    placement: Placement | None = None
    delayed: str | None = None
    written: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admission:
    """What a Workload got, and of which queue."""

    queue: str
    sets: tuple[AdmittedSet, ...]


@dataclass(slots=True)
class Status:
    """The status of one Workload. `told` says that its requests were written into it."""

    active: bool = True
    conditions: dict[str, Condition] = field(default_factory=dict)
    admission: Admission | None = None
    checks: tuple[Check, ...] = ()
    reclaimable: Mapping[str, int] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    told: bool = False

    def copy(self) -> Status:
        """Return the status as it is now."""
        return replace(self, conditions=dict(self.conditions))

    def facts(self) -> tuple[object, ...]:
        """Return everything but times."""
        conditions = tuple(
            (name, condition.true, condition.reason, condition.message) for name, condition in self.conditions.items()
        )
        return self.active, frozenset(conditions), self.admission, self.checks, self.told, self.lost

    def substance(self) -> tuple[object, ...]:
        """Return the state that makes up a Workload's status."""
        return self.reserved, self.admitted, self.evicted, self.active, self.admission

    def set(self, name: str, true: bool, reason: str, message: str, now: int) -> bool:
        """Set a condition; its time changes only where it becomes true or false. Says whether anything changed."""
        before = self.conditions.get(name)
        since = before.since if before is not None and before.true == true else now
        self.conditions[name] = Condition(true, reason, message, since)
        return before != self.conditions[name]

    def true(self, name: str) -> bool:
        """Say whether a condition is there and true."""
        found = self.conditions.get(name)
        return found is not None and found.true

    @property
    def reserved(self) -> bool:
        """Whether quota is held."""
        return self.true(QUOTA)

    @property
    def admitted(self) -> bool:
        """Whether the Workload runs."""
        return self.true(ADMITTED)

    @property
    def evicted(self) -> bool:
        """Whether it has to give its quota back, or had to."""
        return self.true(EVICTED)

    @property
    def finished(self) -> bool:
        """Whether it is done."""
        return self.true(FINISHED)

    @property
    def phase(self) -> str:
        """How far it is, in a word."""
        if self.finished:
            return "finished"
        if self.admitted:
            return "admitted"
        return "reserved" if self.reserved else "pending"

    @property
    def places_pending(self) -> bool:
        """Whether pods wait for their place until checks are ready."""
        sets = self.admission.sets if self.admission else ()
        return any(set_.placement is None and set_.delayed == PENDING for set_ in sets)

    @property
    def homeless(self) -> bool:
        """Whether pods stand on a node that failed."""
        sets = self.admission.sets if self.admission and self.admitted else ()
        placed = (domain for set_ in sets if set_.placement for domain in set_.placement.domains)
        return any(domain.values[-1] in self.lost for domain in placed)

    @property
    def looked_at_again(self) -> bool:
        """Whether the scheduler has to look at a Workload that holds quota: for places that waited, or that failed."""
        if self.finished or self.evicted or not self.reserved:
            return False
        waits = bool(self.checks) and self.checks_ready and self.places_pending and not self.admitted
        return waits or self.homeless

    @property
    def checks_ready(self) -> bool:
        """Whether no check says anything but yes."""
        return all(check.state == READY for check in self.checks)

    def release(self, reason: str, message: str, now: int) -> bool:
        """Give up quota, or say why there is none. Says whether anything changed."""
        changed = self.set(QUOTA, False, reason, message, now)
        if self.admission is not None:
            self.admission, changed = None, True
        return self.sync_admitted(now) or changed

    def reserve(self, admission: Admission, now: int) -> None:
        """Hold quota."""
        self.admission, self.told = admission, False
        self.set(QUOTA, True, "QuotaReserved", f"Quota reserved in ClusterQueue {admission.queue}", now)
        for name in (EVICTED, PREEMPTED):
            before = self.conditions.get(name)
            if before is not None and before.true:
                self.set(name, False, "QuotaReserved", f"Previously: {before.message}", now)

    def sync_admitted(self, now: int) -> bool:
        """Bring the condition Admitted up to date. Says whether anything changed."""
        ready = self.checks_ready
        if self.admitted == (self.reserved and ready and not self.places_pending):
            return False
        if not self.reserved:
            return self.set(ADMITTED, False, "NoReservation", "The workload has no reservation", now)
        if not ready:
            return self.set(ADMITTED, False, "UnsatisfiedChecks", "The workload has not all checks ready", now)
        if self.places_pending:
            return self.set(ADMITTED, False, "PendingDelayedTopologyRequests", "There are pending requests", now)
        return self.set(ADMITTED, True, "Admitted", "The workload is admitted", now)

    def evict(self, reason: str, message: str, now: int) -> None:
        """Have the Workload give its quota back; checks start again."""
        self.set(EVICTED, True, reason, message, now)
        self.lost = frozenset()
        self.checks = tuple(
            check if check.state == PENDING else Check(check.name, message=f"Reset from {check.state}")
            for check in self.checks
        )
