"""Lists as sets.

Source: google/cel-go v0.26.0 ext/sets.go.
"""

from __future__ import annotations

from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.functions import Functions

FUNCTIONS = Functions(since=29)


@FUNCTIONS.define("sets.contains(list<T>, list<T>) -> bool")
def contains(elements: list[Any], wanted: list[Any]) -> bool:
    """Whether every wanted element is there."""
    return all(values.contains(elements, element) for element in wanted)


@FUNCTIONS.define("sets.equivalent(list<T>, list<T>) -> bool")
def equivalent(one: list[Any], two: list[Any]) -> bool:
    """Whether two lists hold the same elements, in any order and number."""
    return contains(one, two) and contains(two, one)


@FUNCTIONS.define("sets.intersects(list<T>, list<T>) -> bool")
def intersects(one: list[Any], two: list[Any]) -> bool:
    """Whether two lists have an element in common."""
    return any(values.contains(two, element) for element in one)
