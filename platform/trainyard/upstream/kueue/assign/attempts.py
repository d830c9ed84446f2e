"""What came of each flavor that was tried (kueue v0.19.2 pkg/scheduler/flavorassigner/flavor_assigner_attempts.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from trainyard.upstream.kueue.assign.modes import Mode
from trainyard.upstream.kueue.assign.reasons import NO_FLAVOR, worse
from trainyard.upstream.kueue.model.queues import ResourceGroup

POSSIBILITIES = ("NoCandidates", "Preempt", "Reclaim")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One flavor, and the worst of what came of it over the resources that were asked for."""

    flavor: str
    mode: Mode
    borrow: int = 0
    possibility: str | None = None
    reasons: tuple[str, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        how = f"preemptionMode={self.possibility}" if self.possibility else str(self.mode)
        borrow = (f"borrow={self.borrow}",) if self.borrow else ()
        return f"{self.flavor}({';'.join((how, *borrow, *self.reasons))})"


def merge(found: dict[str, Attempt], tried: Iterable[Attempt], group: ResourceGroup, resource: str) -> None:
    """Add what came of the flavors for a resource to what came of them before."""
    names = set()
    for attempt in tried:
        names.add(attempt.flavor)
        before = found.get(attempt.flavor)
        found[attempt.flavor] = _both(before, attempt) if before else replace(attempt, reasons=_sorted(attempt.reasons))
    if not names:
        return
    for flavor, before in found.items():
        if flavor in group.flavors and flavor not in names:
            missing = f"flavor {flavor} does not provide resource {resource}"
            reasons = _sorted((*before.reasons, missing))
            found[flavor] = replace(before, mode=Mode.NO_FIT, reasons=reasons, why=NO_FLAVOR)


def _both(left: Attempt, right: Attempt) -> Attempt:
    known = [possibility for possibility in (left.possibility, right.possibility) if possibility]
    return Attempt(
        left.flavor,
        min(left.mode, right.mode),
        max(left.borrow, right.borrow),
        min(known, key=POSSIBILITIES.index) if known else None,
        _sorted((*left.reasons, *right.reasons)),
        worse(left.why, right.why),
    )


def _sorted(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(reasons)))


def describe_attempts(attempts: Mapping[str, Iterable[Attempt]]) -> str:
    """Write what was tried and is no plain fit, by pod set."""
    parts = []
    for name, tried in attempts.items():
        told = [str(attempt) for attempt in tried if attempt.mode is not Mode.FIT or attempt.borrow]
        if told:
            parts.append(f"{name}: {', '.join(told)}")
    return " | ".join(parts)
