"""What functions cost by the size of what they are given, as a server counts it while it evaluates.

Source: google/cel-go v0.26.0 interpreter/runtimecost.go costCall, kubernetes/apiserver v0.35.4 pkg/cel/library/cost.go,
google/cel-go v0.26.0 ext/sets.go and ext/lists.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainyard.upstream.apiserver.cel.functions import Overload
from trainyard.upstream.apiserver.cel.logic import Frame, Run, take

Price = Callable[..., int]
"""Returns what a call costs, given its arguments."""

TEXT, PATTERN = 10, 4
"""Letters of a text, and of a pattern, that cost one."""

LIST = 10
"""What a list costs that is made."""


def meter_call(function: Callable[..., Any], price: Price, arguments: Sequence[Run]) -> Run:
    """Call a function and take what that costs first; raises BudgetError where nothing is left."""

    def run(frame: Frame) -> Any:
        given = [argument(frame) for argument in arguments]
        take(frame, price(*given))
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


def order(elements: Any, *_: Any) -> int:
    """Price the comparison of each element of a list with each, and the list that is made."""
    count = size(elements)
    texts = count and isinstance(elements, list) and isinstance(elements[0], (str, bytes))
    return LIST + int(count * count * (2.1 if texts else 2))


def section(_: Any, start: Any, end: Any) -> int:
    """Price a part of a list by its length."""
    return LIST + max(0, end - start) if type(start) is type(end) is int else LIST


def price_flatten(elements: Any, depth: Any = 1) -> int:
    """Price a list that is flattened by its length, for each level."""
    return LIST + size(elements) * (depth if type(depth) is int and depth > 0 else 1)


def price_join(elements: Any, separator: Any = "") -> int:
    """Price a text by the letters of what it is joined from."""
    texts = elements if isinstance(elements, list) else []
    return 2 * (sum(map(size, texts)) + size(separator) * len(texts)) // TEXT


def traversal(value: Any, *_: Any) -> int:
    """Price a look at every letter or element."""
    return size(value) // TEXT if isinstance(value, (str, bytes)) else size(value)


PRICES: Mapping[str, Price] = {
    "@in": lambda _, among: len(among) if isinstance(among, list) else 0,
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
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), order),
    "flatten": price_flatten,
    "join": price_join,
    "lists.range": lambda count: LIST + max(0, count) if type(count) is int else LIST,
    "reverse": lambda value: LIST + size(value) if isinstance(value, list) else size(value) // TEXT,
    "slice": section,
    **dict.fromkeys(
        ("replace", "split", "startsWith", "endsWith", "quantity", "isQuantity", "url", "ip", "isIP", "cidr", "isCIDR"),
        traversal,
    ),
    **dict.fromkeys(("semver", "isSemver"), traversal),
}
"""By function; what is not here costs nothing beside its call."""

NUMBERS = frozenset({"int", "uint", "double", "duration", "timestamp"})


def price_of(form: Overload) -> Price | None:
    """Return the price of calling a form of a function, None where it is free; numbers are small."""
    small = form.function == "_+_" and form.result.kind in NUMBERS
    return None if small else PRICES.get(form.function)
