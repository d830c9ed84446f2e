"""Workloads that the scheduler looks at a second time, though they hold quota (kueue v0.19.2 second_pass_queue.go)."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.upstream.kueue.replay.records import Record

SECOND = 10**9
LONGEST = 30 * SECOND
"""The longest pause between two looks, in nanoseconds; each is twice the one before, from one second on."""


@dataclass(slots=True, eq=False)
class SecondLook:
    """Who waits for a second look, and until when (nanoseconds since 1970)."""

    timers: list[tuple[int, str, int]] = field(default_factory=list)
    announced: set[str] = field(default_factory=set)
    ready: dict[str, int] = field(default_factory=dict)

    def ask(self, record: Record, iteration: int, now: int) -> bool:
        """Have a Workload looked at again after a pause, if that is needed. Says whether it will be."""
        key = record.key
        if not record.status.looked_at_again:
            if iteration > 0:
                self.forget(key)
            return False
        if key in self.announced:
            return False
        self.announced.add(key)
        pause = min(SECOND * 2**iteration, LONGEST)
        self.timers.append((now + pause, key, iteration + 1))
        return True

    def forget(self, key: str) -> None:
        """Look at a Workload no more."""
        self.ready.pop(key, None)
        self.announced.discard(key)

    def fire(self, now: int) -> None:
        """Have those ready whose pause is over."""
        for at, key, iteration in [timer for timer in self.timers if timer[0] <= now]:
            self.timers.remove((at, key, iteration))
            if key in self.announced:
                self.announced.discard(key)
                self.ready[key] = iteration

    def take(self) -> dict[str, int]:
        """Take those that are ready, with how often they were looked at."""
        found, self.ready = self.ready, {}
        return found
