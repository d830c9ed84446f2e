"""Lists: sums, extremes, order, search; and since 1.34 slices, sorting and flattening.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/lists.go; google/cel-go v0.26.0 ext/lists.go, version 3.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library import arithmetic
from trainyard.upstream.apiserver.cel.library.operators import ORDERED
from trainyard.upstream.apiserver.cel.values import Duration, UInt

FUNCTIONS = Functions()
SLICES = Functions(since=34)


def compare_elements(one: Any, two: Any) -> int:
    """Compare two elements that must have an order."""
    result = values.compare(one, two)
    if result is None:
        raise no_such_overload()
    return result


@FUNCTIONS.define(*(f"list<{kind}>.isSorted() -> bool" for kind in ORDERED))
def is_sorted(elements: list[Any]) -> bool:
    """Whether no element is above the next."""
    return all(compare_elements(one, two) <= 0 for one, two in pairwise(elements))


@FUNCTIONS.define("list<int>.sum() -> int")
def sum_int(elements: list[int]) -> int:
    """Add all up."""
    total = 0
    for element in elements:
        total = arithmetic.add_int(total, element)
    return total


@FUNCTIONS.define("list<uint>.sum() -> uint")
def sum_uint(elements: list[UInt]) -> UInt:
    """Add all up."""
    total = UInt(0)
    for element in elements:
        total = arithmetic.add_uint(total, element)
    return total


@FUNCTIONS.define("list<double>.sum() -> double")
def sum_double(elements: list[float]) -> float:
    """Add all up, from left to right."""
    total = 0.0
    for element in elements:
        total += element
    return total


@FUNCTIONS.define("list<duration>.sum() -> duration")
def sum_duration(elements: list[Duration]) -> Duration:
    """Add all up."""
    total = Duration(0)
    for element in elements:
        total = arithmetic.add_duration(total, element)
    return total


@FUNCTIONS.define(*(f"list<{kind}>.min() -> {kind}" for kind in ORDERED))
def minimum(elements: list[Any]) -> Any:
    """Return the least element."""
    if not elements:
        raise CelError("min called on empty list")
    least = elements[0]
    for element in elements[1:]:
        if compare_elements(least, element) > 0:
            least = element
    return least


@FUNCTIONS.define(*(f"list<{kind}>.max() -> {kind}" for kind in ORDERED))
def maximum(elements: list[Any]) -> Any:
    """Return the greatest element."""
    if not elements:
        raise CelError("max called on empty list")
    greatest = elements[0]
    for element in elements[1:]:
        if compare_elements(greatest, element) < 0:
            greatest = element
    return greatest


@FUNCTIONS.define("list<A>.indexOf(A) -> int")
def index_of(elements: list[Any], wanted: Any) -> int:
    """Return the first place of a value, or -1."""
    return next((place for place, element in enumerate(elements) if values.equal(element, wanted)), -1)


@FUNCTIONS.define("list<A>.lastIndexOf(A) -> int")
def last_index_of(elements: list[Any], wanted: Any) -> int:
    """Return the last place of a value, or -1."""
    return next((place for place in reversed(range(len(elements))) if values.equal(elements[place], wanted)), -1)


@SLICES.define("list<T>.slice(int, int) -> list<T>")
def section(elements: list[Any], start: int, end: int) -> list[Any]:
    """Return the elements between two places."""
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(elements) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return list(elements[start:end])


@SLICES.define("list<list<T>>.flatten() -> list<T>", "list<dyn>.flatten(int) -> list<dyn>", loose=True)
def flatten(elements: list[Any], depth: int = 1) -> list[Any]:
    """Replace lists by their elements, so many levels deep."""
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Any] = []
    for element in elements:
        if isinstance(element, list) and depth:
            flat += flatten(element, depth - 1)
        else:
            flat.append(element)
    return flat


@SLICES.define(*(f"list<{kind}>.sort() -> list<{kind}>" for kind in ORDERED))
def sort(elements: list[Any]) -> list[Any]:
    """Put the elements in order."""
    return sort_by(elements, elements)


def sort_by(elements: list[Any], keys: list[Any]) -> list[Any]:
    """Put elements in the order of their keys."""
    if keys and values.compare(keys[0], keys[0]) is None and not isinstance(keys[0], float):
        raise CelError("list elements must be comparable")
    if any(values.type_name(key) != values.type_name(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")

    def compare(one: tuple[Any, Any], two: tuple[Any, Any]) -> int:
        return values.compare(one[0], two[0]) or 0

    return [element for _, element in sorted(zip(keys, elements, strict=True), key=cmp_to_key(compare))]


@SLICES.define("lists.range(int) -> list<int>")
def count_up(count: int) -> list[int]:
    """Return the whole numbers from zero up to, but without, a number."""
    arithmetic.check_size(count)
    return list(range(count))


@SLICES.define("list<T>.reverse() -> list<T>")
def reverse(elements: list[Any]) -> list[Any]:
    """Return the elements, last first."""
    return list(reversed(elements))


@SLICES.define("list<T>.distinct() -> list<T>")
def distinct(elements: list[Any]) -> list[Any]:
    """Return the elements without repetitions."""
    found: list[Any] = []
    for element in elements:
        if not values.contains(found, element):
            found.append(element)
    return found
