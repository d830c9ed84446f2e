"""A heap as Kueue keeps one: its order is renewed only where something is put in or taken out.

What changes the order of others, such as the usage of their LocalQueues, therefore shows late, or never
(kueue v0.19.2 pkg/util/heap over Go's container/heap).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trainyard.upstream.kueue.assign.pending import Pending


class Heap:
    """Workloads by key, the first on top. `key` is what they are ordered by, asked whenever two are compared."""

    def __init__(self, key: Callable[[Pending], Any]) -> None:
        self.key = key
        self.items: list[Pending] = []
        self.at: dict[str, int] = {}

    def __contains__(self, key: str) -> bool:
        return key in self.at

    def __bool__(self) -> bool:
        return bool(self.items)

    def get(self, key: str) -> Pending | None:
        """Return a Workload that is in it."""
        return self.items[self.at[key]] if key in self.at else None

    def put(self, pending: Pending) -> None:
        """Add a Workload, or put it in place of what it was."""
        at = self.at.get(pending.key)
        if at is None:
            self.at[pending.key] = len(self.items)
            self.items.append(pending)
            self._up(len(self.items) - 1)
        else:
            self.items[at] = pending
            self._fix(at)

    def pop(self) -> Pending:
        """Take the top."""
        return self._last_after(0)

    def take(self, key: str) -> Pending:
        """Take a Workload, wherever it is."""
        return self._last_after(self.at[key])

    def renew(self) -> None:
        """Put every Workload where it belongs now."""
        for item in list(self.items):
            self._fix(self.at[item.key])

    def _last_after(self, at: int) -> Pending:
        last = len(self.items) - 1
        if at != last:
            self._swap(at, last)
            if not self._down(at, last):
                self._up(at)
        found = self.items.pop()
        del self.at[found.key]
        return found

    def _fix(self, at: int) -> None:
        if not self._down(at, len(self.items)):
            self._up(at)

    def _less(self, left: int, right: int) -> bool:
        return bool(self.key(self.items[left]) < self.key(self.items[right]))

    def _swap(self, left: int, right: int) -> None:
        items = self.items
        items[left], items[right] = items[right], items[left]
        self.at[items[left].key], self.at[items[right].key] = left, right

    def _up(self, at: int) -> None:
        while at and self._less(at, (at - 1) // 2):
            self._swap(at, (at - 1) // 2)
            at = (at - 1) // 2

    def _down(self, start: int, end: int) -> bool:
        at = start
        while (child := 2 * at + 1) < end:
            if child + 1 < end and self._less(child + 1, child):
                child += 1
            if not self._less(child, at):
                break
            self._swap(at, child)
            at = child
        return at > start
