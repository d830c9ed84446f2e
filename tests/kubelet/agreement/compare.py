"""How far two answers to one case agree: the start, each pod's outcome, and what each container got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = Mapping[str, Any]

START = ("error", "invalid", "warning", "allocatable", "allocatableCPUs", "allocatableMemory")
POD = ("qos", "unschedulable", "reason", "message", "permutations", "preempted", "explosion")


@dataclass
class Tally:
    """What was compared, and how much of it agreed, by what it was."""

    seen: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, ours: Answer, theirs: Answer) -> None:
        """Compare two answers."""
        for what, detail, same in compared(ours, theirs):
            self.seen[what] += 1
            self.agreed[what] += same
            if not same:
                self.differences.append(f"{what}: {theirs['name']}: {detail}")

    def share(self, what: str) -> float:
        """Return the part that agreed; of nothing, everything."""
        return self.agreed[what] / self.seen[what] if self.seen[what] else 1.0

    def table(self) -> str:
        """Return a line for everything that was compared."""
        rows = (
            f"{what:<12} {self.agreed[what]:>7} of {self.seen[what]:>7}  {self.share(what):.4%}" for what in self.seen
        )
        return "\n".join(rows)


def compared(ours: Answer, theirs: Answer) -> Iterator[tuple[str, str, bool]]:
    """Yield what is compared, both sides of it in words, and whether they are the same."""
    yield "cases", "", ours == theirs
    for key in START:
        if key in ours or key in theirs:
            yield "start", f"{key}: {ours.get(key)} != {theirs.get(key)}", ours.get(key) == theirs.get(key)
    for our, their in zip(ours.get("pods", ()), theirs.get("pods", ()), strict=False):
        yield from _pods(our, their)
    if "left" in ours or "left" in theirs:
        yield "left", f"{ours.get('left')} != {theirs.get('left')}", ours.get("left") == theirs.get("left")


def _pods(ours: Answer, theirs: Answer) -> Iterator[tuple[str, str, bool]]:
    outcomes = (ours["outcome"], theirs["outcome"])
    yield "outcomes", f"{theirs['pod']}: {ours} != {theirs}", outcomes[0] == outcomes[1]
    if outcomes[0] != outcomes[1]:
        return
    different = [f"{key} {ours.get(key)} != {theirs.get(key)}" for key in POD if ours.get(key) != theirs.get(key)]
    yield "words", f"{theirs['pod']}: {'; '.join(different)}", not different
    for one, other in zip(ours.get("containers", ()), theirs.get("containers", ()), strict=True):
        yield "assigned", f"{theirs['pod']}: {one} != {other}", one == other
