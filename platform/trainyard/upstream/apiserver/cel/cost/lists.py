"""What functions of lists cost.

Source: google/cel-go v0.26.0 ext/lists.go, ext/sets.go; k8s.io/apiserver v0.35.4 pkg/cel/library/cost.go.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.cel.cost.called import ONE, READ, Called, Cost, Found, integer, size_of
from trainyard.upstream.apiserver.cel.cost.folds import sort_cost
from trainyard.upstream.apiserver.cel.cost.parts import Part
from trainyard.upstream.apiserver.cel.cost.paths import ITEMS, Path
from trainyard.upstream.apiserver.cel.cost.ranges import ANY, MOST, Range, exactly
from trainyard.upstream.apiserver.cel.functions import Overload

_MADE = exactly(11)
"""The cost of a call that makes a list."""


def scan(called: Called, _: Overload) -> Found | None:
    """Cost what looks at all elements of a list, or at a text."""
    if called.target is None:
        return None
    size = size_of(called.target)
    if not called.target.type.parameters:
        return size.scaled(READ), None
    element = called.target.type.parameters[0]
    cost = ONE
    if element.kind in ("string", "bytes"):
        cost += elements(called, called.target.path).scaled(READ)
    return size * cost, None


def elements(called: Called, path: Path) -> Range:
    """Return the size of the elements of what is at a path; a path of its own, since the server copies it."""
    found = called.known.size_at(Path([*path, ITEMS], len(path) + 1, len(path) + 1)) if len(path) else None
    return ANY if found is None else found


def sets(factor: float) -> Cost:
    """Return the cost of comparing each element of one list with each of another."""

    def cost(called: Called, _: Overload) -> Found:
        one, two = called.parts
        return (size_of(one) * size_of(two)).scaled(factor) + ONE, None

    return cost


def make_cost(size: Range, factor: float) -> Found:
    """Return the cost of making a list."""
    return size.scaled(factor) + _MADE, size


def slices(called: Called, _: Overload) -> Found | None:
    """Cost `slice`, whose result is as long as its ends say where these are written out."""
    if called.target is None:
        return None
    start = _natural(called.parts[0], 0)
    end = _natural(called.parts[1], size_of(called.target).most)
    return make_cost(exactly((end - start) % 2**64), 1)


def flatten(called: Called, _: Overload) -> Found | None:
    """Cost `flatten`, by its depth."""
    depth = _natural(called.parts[0], MOST) if called.parts else 1
    return None if called.target is None else make_cost(size_of(called.target), float(depth))


def numbers(called: Called, _: Overload) -> Found:
    """Cost `lists.range`."""
    return make_cost(exactly(_natural(called.parts[0], MOST)), 1)


def reverse(called: Called, _: Overload) -> Found | None:
    """Cost a list turned around."""
    return None if called.target is None else make_cost(size_of(called.target), 1)


def distinct(called: Called, _: Overload) -> Found | None:
    """Cost comparing each with each; the server takes the square of the length for that of the result."""
    if called.target is None:
        return None
    size = size_of(called.target)
    return make_cost(size * size, 2)


def sort(called: Called, overload: Overload) -> Found | None:
    """Cost comparing each with each."""
    if called.target is None:
        return None
    square = size_of(called.target) * size_of(called.target)
    return sort_cost(square, overload.parameters[0].parameters[0]), square


def _natural(part: Part, otherwise: int) -> int:
    """Return a number that is written out, 0 for one below."""
    found = integer(part)
    return otherwise if found is None else max(0, found)
