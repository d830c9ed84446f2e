"""What functions cost by the size of what they are given, as a server counts it while it evaluates.

Source: google/cel-go v0.26.0 interpreter/runtimecost.go costCall, kubernetes/apiserver v0.35.4 pkg/cel/library/cost.go,
google/cel-go v0.26.0 ext/sets.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainyard.apiserver.cel.folds import BUDGET, BudgetError
from trainyard.apiserver.cel.logic import Frame, Run

Price = Callable[..., int]
"""Returns what a call costs, given its arguments."""

TEXT, PATTERN = 10, 4
"""Letters of a text, and of a pattern, that cost one."""


def metered(function: Callable[..., Any], price: Price, arguments: Sequence[Run]) -> Run:
    """Call a function and take what that costs first; raises BudgetError where nothing is left."""

    def run(frame: Frame) -> Any:
        given = [argument(frame) for argument in arguments]
        frame[BUDGET] -= price(*given)
        if frame[BUDGET] < 0:
            raise BudgetError
        return function(*given)

    return run


def size(value: Any) -> int:
    """Return the size of a text, a list or a map, one of anything else."""
    return len(value) if isinstance(value, (str, bytes, list, dict)) else 1


def equality(one: Any, two: Any) -> int:
    """Price the comparison of two values by the smaller."""
    return min(size(one), size(two)) // TEXT


def product(one: Any, two: Any, *_: Any) -> int:
    """Price the search for a text in another."""
    return (size(one) // TEXT) * (size(two) // TEXT)


def search(text: Any, pattern: Any, *_: Any) -> int:
    """Price the search for a pattern."""
    return (1 + size(text) // TEXT) * (size(pattern) // PATTERN)


def pairs(one: Any, two: Any) -> int:
    """Price the comparison of two sets, each element with each."""
    return size(one) * size(two)


def traversal(value: Any, *_: Any) -> int:
    """Price a look at every letter or element."""
    return size(value) // TEXT if isinstance(value, (str, bytes)) else size(value)


PRICES: Mapping[str, Price] = {
    "@in": lambda _, among: size(among),
    "contains": product,
    "matches": search,
    "find": search,
    "findAll": search,
    "sets.contains": pairs,
    "sets.equivalent": lambda one, two: 2 * pairs(one, two),
    "sets.intersects": pairs,
    "_+_": lambda one, two: (size(one) + size(two)) // TEXT if isinstance(one, (str, bytes)) else 0,
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "lowerAscii", "upperAscii", "substring", "trim"),
        traversal,
    ),
    **dict.fromkeys(("replace", "split", "startsWith", "endsWith", "quantity", "url", "ip", "cidr"), traversal),
}
"""By function; what is not here costs nothing beside its call."""
