"""Values that may be absent.

`or` and `orValue` do not evaluate their argument where it is not needed, so the compiler runs them itself.
Source: google/cel-go v0.26.0 cel/library.go (optionalLib), common/types/optional.go.
"""

from __future__ import annotations

from typing import Any

from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library.arithmetic import EARLIEST
from trainyard.upstream.apiserver.cel.values import ABSENT, NONE, Duration, Optional, Timestamp

FUNCTIONS = Functions(since=28)


@FUNCTIONS.define("optional.of(V) -> optional<V>")
def of(value: Any) -> Optional:
    """Return an optional with a value."""
    return Optional(value)


@FUNCTIONS.define("optional.ofNonZeroValue(V) -> optional<V>")
def of_non_zero(value: Any) -> Optional:
    """Return an optional with a value, or none where the value is empty or zero."""
    if value is None or value in (False, 0, "", b"", [], {}):
        return NONE
    return NONE if value in (Duration(0), Timestamp(EARLIEST)) else Optional(value)


@FUNCTIONS.define("optional.none() -> optional<V>")
def none() -> Optional:
    """Return an optional without a value."""
    return NONE


@FUNCTIONS.define("optional<V>.value() -> V")
def value_of(optional: Optional) -> Any:
    """Return the value, or an error where there is none."""
    if optional.value is ABSENT:
        raise CelError("optional.none() dereference")
    return optional.value


@FUNCTIONS.define("optional<V>.hasValue() -> bool")
def has_value(optional: Optional) -> bool:
    """Whether there is a value."""
    return optional.value is not ABSENT


@FUNCTIONS.define("optional<V>.or(optional<V>) -> optional<V>", "optional<V>.orValue(V) -> V")
def by_compiler(*_: Any) -> Any:
    """Stand for a method that the compiler runs itself."""
    raise no_such_overload()


@FUNCTIONS.define("list<V>.first() -> optional<V>")
def first(elements: list[Any]) -> Optional:
    """Return the first element, if there is one."""
    return Optional(elements[0]) if elements else NONE


@FUNCTIONS.define("list<V>.last() -> optional<V>")
def last(elements: list[Any]) -> Optional:
    """Return the last element, if there is one."""
    return Optional(elements[-1]) if elements else NONE


@FUNCTIONS.define("optional.unwrap(list<optional<V>>) -> list<V>", "list<optional<V>>.unwrapOpt() -> list<V>")
def unwrap(optionals: list[Optional]) -> list[Any]:
    """Return the values of those that have one."""
    return [optional.value for optional in optionals if optional.present]
