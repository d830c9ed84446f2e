"""A call whose cost is asked for, and the simplest answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trainyard.upstream.apiserver.cel.cost.parts import Known, Part
from trainyard.upstream.apiserver.cel.cost.ranges import ANY, Range, exactly
from trainyard.upstream.apiserver.cel.functions import Overload
from trainyard.upstream.apiserver.cel.syntax import Call, Constant

READ = 0.1
"""The cost of going over one character (google/cel-go v0.26.0 common/cost.go)."""
ONE = exactly(1)

Found: TypeAlias = tuple[Range, Range | None]
"""The cost of a call without its arguments, and the size of its result where that is known."""


@dataclass(frozen=True, slots=True)
class Called:
    """One call: what it is of, on and with, and what its arguments cost."""

    known: Known
    node: Call
    function: str
    target: Part | None
    parts: Sequence[Part]
    costs: Sequence[Range]

    def keep_either(self, one: Part, two: Part) -> None:
        """Remember the sizes of what is in the result, which has what either argument has."""
        entries, others = self.known.entries_of(one.node), self.known.entries_of(two.node)
        if entries is not None and (both := entries | others) is not None:
            self.known.entries[self.node.id] = both


Cost: TypeAlias = Callable[[Called, Overload], Found | None]
"""What says the cost of one function; None where it is 1."""


def size_of(part: Part) -> Range:
    """Return the size of an argument, or that it may have any."""
    return ANY if part.size is None else part.size


def always(cost: Range) -> Cost:
    """Return a cost function that always gives the same cost."""
    return lambda _called, _overload: (cost, None)


def read_cost(factor: float, *, sized: bool = False) -> Cost:
    """Return the cost function of a read of the first argument or target; with `sized`, its size is the result's."""

    def cost(called: Called, _: Overload) -> Found:
        size = size_of(called.target or called.parts[0])
        return size.scaled(factor), size if sized else None

    return cost


def integer(part: Part) -> int | None:
    """Return a whole number that is written out."""
    value = part.node.value if isinstance(part.node, Constant) else None
    return value if type(value) is int else None
