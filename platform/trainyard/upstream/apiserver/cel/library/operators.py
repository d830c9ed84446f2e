"""Operators: equality, order, arithmetic, membership and access by index.

`&&`, `||` and `?:` decide which sides are evaluated, so the compiler runs them itself; here are their types alone.
Source: google/cel-go v0.26.0 common/stdlib/standard.go, common/types/overflow.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import ABSENT, NONE, Optional

FUNCTIONS = Functions()
CROSS_TYPE = Functions(since=28)
OPTIONALS = Functions(since=28)


@FUNCTIONS.define("_&&_(bool, bool) -> bool", "_||_(bool, bool) -> bool", "_?_:_(bool, A, A) -> A")
def by_compiler(*_: Any) -> Any:
    """Stand for an operator that the compiler runs itself."""
    raise no_such_overload()


@FUNCTIONS.define("!_(bool) -> bool")
def negation(value: bool) -> bool:
    """Logical not."""
    return not value


FUNCTIONS.define("_==_(A, A) -> bool")(values.equal)


@FUNCTIONS.define("_!=_(A, A) -> bool")
def unequal(one: Any, two: Any) -> bool:
    """Not equal."""
    return not values.equal(one, two)


ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
NUMBERS = ("int", "uint", "double")


def order(decide: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    """Build a comparison from what it makes of -1, 0 and 1; what has no order is below nothing."""

    def compare(one: Any, two: Any) -> bool:
        result = values.compare(one, two)
        if result is None:
            if values.is_nan(one) or values.is_nan(two):
                raise CelError("NaN values cannot be ordered")
            raise no_such_overload()
        return decide(result)

    return compare


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": order(lambda result: result < 0),
    "_<=_": order(lambda result: result <= 0),
    "_>_": order(lambda result: result > 0),
    "_>=_": order(lambda result: result >= 0),
}
for _operator, _compare in COMPARISONS.items():
    FUNCTIONS.define(*(f"{_operator}({name}, {name}) -> bool" for name in ORDERED))(_compare)
    CROSS_TYPE.define(
        *(f"{_operator}({one}, {two}) -> bool" for one in NUMBERS for two in NUMBERS if one != two),
    )(_compare)


@FUNCTIONS.define("_[_](list<A>, int) -> A")
def element(sequence: list[Any], place: Any) -> Any:
    """Return the element at a place, counted from zero."""
    if isinstance(place, float) and place.is_integer():
        place = int(place)
    if not isinstance(place, int) or isinstance(place, bool):
        raise CelError(f"unsupported index type '{values.type_name(place)}' in list")
    if 0 <= place < len(sequence):
        return sequence[place]
    raise CelError(f"index out of bounds: {int(place)}")


@FUNCTIONS.define("_[_](map<A, B>, A) -> B")
def entry(mapping: dict[Any, Any], key: Any) -> Any:
    """Return the value of a key."""
    value = find(mapping, key)
    if value is ABSENT:
        raise CelError(f"no such key: {key if key is not None else 'null'}")
    return value


def index(container: Any, key: Any) -> Any:
    """Return the element or the value of a key, where only the values tell which; an optional gives an optional."""
    if isinstance(container, list):
        return element(container, key)
    if isinstance(container, dict):
        return entry(container, key)
    if isinstance(container, Optional):
        return optional_element(container, key)
    raise CelError(f"no such key: {key}")


def find(mapping: dict[Any, Any], key: Any) -> Any:
    """Look a key up; Python's dicts confuse 1 and true, CEL does not."""
    try:
        value = mapping[key]
    except (KeyError, TypeError):
        return ABSENT
    if isinstance(key, str):
        return value
    same = isinstance(key, bool)
    return (
        value if any(isinstance(one_element, bool) == same for one_element in mapping if one_element == key) else ABSENT
    )


@FUNCTIONS.define("@in(A, list<A>) -> bool", "@in(A, map<A, B>) -> bool")
def within(wanted: Any, values_: list[Any] | dict[Any, Any]) -> bool:
    """Whether a value is in a list, or a key in a map."""
    if isinstance(values_, dict):
        return find(values_, wanted) is not ABSENT
    return values.contains(values_, wanted)


@OPTIONALS.define(
    "_[?_](list<V>, int) -> optional<V>",
    "_[?_](optional<list<V>>, int) -> optional<V>",
    "_[?_](map<K, V>, K) -> optional<V>",
    "_[?_](optional<map<K, V>>, K) -> optional<V>",
    "_[_](optional<list<V>>, int) -> optional<V>",
    "_[_](optional<map<K, V>>, K) -> optional<V>",
)
def optional_element(container: Any, key: Any) -> Optional:
    """Return the element at a place or the value of a key, if it is there."""
    if isinstance(container, Optional):
        if not container.present:
            return NONE
        container = container.value
    if isinstance(container, list):
        if not isinstance(key, int) or isinstance(key, bool):
            raise no_such_overload()
        return Optional(container[key]) if 0 <= key < len(container) else NONE
    if isinstance(container, dict):
        value = find(container, key)
        return NONE if value is ABSENT else Optional(value)
    raise no_such_overload()
