"""CEL's values in Python, where Python's own types do not suffice, and when two values are equal.

null, bool, int, double, string, bytes, lists and maps are None, bool, int, float, str, bytes, list and dict.
Source: google/cel-go v0.26.0 common/types; kubernetes/apiserver v0.35.4 pkg/cel/common/valuesunstructured.go.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

INT_MIN, INT_MAX, UINT_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NANOSECONDS = 1_000_000_000


class UInt(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, in nanoseconds since 1970 in UTC; it is written in the zone that it was given in."""

    nanoseconds: int
    offset: int = field(default=0, compare=False)
    """Minutes from UTC."""


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what `type(1)` and the name `int` give."""

    name: str


class Absent:
    """The value of an optional that has none."""

    __slots__ = ()


ABSENT = Absent()


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """A value that may be absent."""

    value: Any = ABSENT

    @property
    def present(self) -> bool:
        """Whether there is a value."""
        return self.value is not ABSENT


NONE = Optional()


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a library's own type: a quantity, an address, a URL; equal where type and content are."""

    type: str
    content: Hashable


class SetList(list[Any]):
    """A list with `x-kubernetes-list-type: set`: equal in any order, and `+` adds only what is not there."""

    __slots__ = ()

    def equals(self, other: list[Any]) -> bool:
        """Compare with another list by members."""
        return len(self) == len(other) and all(contains(self, element) for element in other)

    def merged(self, other: Iterable[Any]) -> SetList:
        """Append the members of another list that are not here."""
        result = SetList(self)
        for element in other:
            if not contains(result, element):
                result.append(element)
        return result


class MapList(list[Any]):
    """A list with `x-kubernetes-list-type: map`: equal in any order, and `+` replaces elements of the same keys."""

    __slots__ = ("keys",)

    def __init__(self, elements: Iterable[Any], keys: tuple[str, ...]) -> None:
        super().__init__(elements)
        self.keys = keys

    def key(self, element: Any) -> tuple[Any, ...]:
        """Return the values that tell an element from the others."""
        return tuple(_plain(element.get(key)) for key in self.keys) if isinstance(element, dict) else (element,)

    def equals(self, other: list[Any]) -> bool:
        """Compare with another list, element by element of the same keys."""
        if len(self) != len(other):
            return False
        mine = {self.key(element): element for element in self}
        return all((key := self.key(element)) in mine and equal(mine[key], element) for element in other)

    def merged(self, other: Iterable[Any]) -> MapList:
        """Put the elements of another list where those of the same keys are, and the rest at the end."""
        result = MapList(self, self.keys)
        places = {self.key(element): place for place, element in enumerate(self)}
        for element in other:
            place = places.get(self.key(element))
            if place is None:
                result.append(element)
            else:
                result[place] = element
        return result


def _plain(value: Any) -> Hashable:
    return (bool, value) if isinstance(value, bool) else value if isinstance(value, Hashable) else repr(value)


@dataclass(slots=True)
class Effort:
    """How many elements of lists and maps may still be compared or made, beside what a server counts.

    It prices a comparison by the number of elements (google/cel-go v0.26.0 interpreter/runtimecost.go), whatever these
    hold, so that a rule far below its limit may compare billions.
    """

    left: float = 1_000_000


EFFORTS = [Effort(math.inf)]
"""The bounds of the evaluations that are under way, the innermost last; beneath all, that outside of any."""


def toil(count: int) -> None:
    """Take elements off the bound; raises OverflowError beyond it."""
    effort = EFFORTS[-1]
    effort.left -= count
    if effort.left < 0:
        raise OverflowError("more elements than anybody waits for")


_SIMPLE = (str, int, float, bytes, Timestamp, Duration, Opaque, TypeValue)


def equal(one: Any, two: Any) -> bool:
    """Whether two values are equal: numbers across their types, true and 1 never, lists by the left one's rule."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if one is None or two is None:
        return one is two
    if isinstance(one, list):
        if not isinstance(two, list) or len(one) != len(two):
            return False
        toil(len(one))
        return one.equals(two) if isinstance(one, SetList | MapList) else all(map(equal, one, two))
    if isinstance(one, dict):
        return isinstance(two, dict) and _equal_maps(one, two)
    if isinstance(one, Optional):
        if not isinstance(two, Optional) or one.present != two.present:
            return False
        return not one.present or equal(one.value, two.value)
    return isinstance(one, _SIMPLE) and bool(one == two)


def _equal_maps(one: dict[Any, Any], two: dict[Any, Any]) -> bool:
    if len(one) != len(two):
        return False
    toil(len(one))
    for key, value in one.items():
        other = two.get(key, ABSENT)
        if other is ABSENT or not equal(value, other):
            return False
    return True


def contains(values: Iterable[Any], wanted: Any) -> bool:
    """Whether a value is among others."""
    return any(equal(value, wanted) for value in values)


def type_name(value: Any) -> str:
    """Return the name of a value's type, as `type()` gives it."""
    if isinstance(value, Opaque):
        return value.type
    for python, name in _NAMES:
        if isinstance(value, python):
            return name
    raise TypeError(f"{type(value).__name__} is no CEL value")


_NAMES: tuple[tuple[type, str], ...] = (
    (str, "string"),
    (bool, "bool"),
    (UInt, "uint"),
    (int, "int"),
    (dict, "map"),
    (list, "list"),
    (float, "double"),
    (type(None), "null_type"),
    (bytes, "bytes"),
    (Timestamp, "google.protobuf.Timestamp"),
    (Duration, "google.protobuf.Duration"),
    (Optional, "optional_type"),
    (TypeValue, "type"),
)


def is_nan(value: Any) -> bool:
    """Whether a value is no number, which has no order."""
    return isinstance(value, float) and math.isnan(value)


def compare(one: Any, two: Any) -> int | None:
    """-1, 0 or 1; None where two values have no order (NaN, or types that do not compare)."""
    if isinstance(one, bool) != isinstance(two, bool):
        return None
    numbers = isinstance(one, int | float) and isinstance(two, int | float)
    if not numbers and type(one) is not type(two):
        return None
    if not isinstance(one, str | int | float | bytes | Timestamp | Duration) or is_nan(one) or is_nan(two):
        return None
    result: int = (one > two) - (one < two)
    return result
