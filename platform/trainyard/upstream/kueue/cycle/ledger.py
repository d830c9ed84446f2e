"""What LocalQueues used, which fades with time, and what they are charged on entry.

Restated from kueue v0.19.2 pkg/cache/queue/afs and pkg/util/admissionfairsharing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal, localcontext

Amounts = dict[str, Decimal]

SCALE = Decimal("1e-9")
"""To what scaled amounts are rounded down (pkg/util/resource)."""


@dataclass(slots=True)
class Entry:
    """What one LocalQueue used until a time in nanoseconds since 1970, and its open charges by Workload."""

    consumed: Amounts
    updated: int
    charges: dict[str, Amounts] = field(default_factory=dict)

    def total(self) -> Amounts:
        """Return the sum of consumed and charged amounts."""
        found = dict(self.consumed)
        for charge in self.charges.values():
            found = both(found, charge)
        return found


@dataclass(slots=True)
class Ledger:
    """The usage of all LocalQueues, by namespace and name; times in seconds."""

    half_life: float
    sampling: float
    weights: Mapping[str, float]
    entries: dict[str, Entry] = field(default_factory=dict)

    def usage(self, queue: str, weight: float) -> float:
        """Return how heavily a LocalQueue used what it may use; without weight, beyond all bounds."""
        if weight <= 0:
            return math.inf
        entry = self.entries.get(queue)
        amounts = entry.total() if entry else {}
        return sum(self.weights.get(name, 1.0) * float(amounts[name]) for name in sorted(amounts)) / weight

    def charged(self, queue: str) -> bool:
        """Say whether a LocalQueue has open charges."""
        entry = self.entries.get(queue)
        return entry is not None and any(any(charge.values()) for charge in entry.charges.values())

    def charge(self, queue: str, workload: str, amounts: Amounts, now: int) -> None:
        """Charge a Workload on entry, in place of what it was charged before."""
        entry = self.entries.setdefault(queue, Entry({}, now))
        entry.charges[workload] = scale_amounts(amounts, self._rate(self.sampling))

    def settle(self, queue: str, workload: str, used: Amounts, now: int) -> None:
        """Let usage fade, and count a charge for good."""
        entry = self.entries.setdefault(queue, Entry({}, now))
        rate = self._rate(max(0.0, (now - entry.updated) / 1e9))
        entry.consumed = both(scale_amounts(entry.consumed, 1 - rate), scale_amounts(used, rate))
        entry.consumed = both(entry.consumed, entry.charges.pop(workload, {}))
        entry.updated = max(now, entry.updated)

    def forgive(self, queue: str, workload: str) -> None:
        """Take a charge back."""
        if queue in self.entries:
            self.entries[queue].charges.pop(workload, None)

    def _rate(self, seconds: float) -> float:
        return 1.0 - math.pow(0.5, seconds / self.half_life) if self.half_life else 0.0


def both(left: Amounts, right: Amounts) -> Amounts:
    """Add."""
    return {name: left.get(name, Decimal(0)) + right.get(name, Decimal(0)) for name in {**left, **right}}


def scale_amounts(amounts: Amounts, factor: float) -> Amounts:
    """Multiply, and round down."""
    with localcontext() as context:
        context.prec = 60
        by = Decimal(repr(factor))
        return {name: (amount * by).quantize(SCALE, rounding=ROUND_DOWN) for name, amount in amounts.items()}
