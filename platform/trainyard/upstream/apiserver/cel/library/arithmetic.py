"""Sums, products and joins, within the bounds of the server.

Source: google/cel-go v0.26.0 common/types/overflow.go, common/stdlib/standard.go.
"""

from __future__ import annotations

import math
from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError, over_budget
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import Duration, MapList, SetList, Timestamp, UInt

FUNCTIONS = Functions()

SIZE_LIMIT = 10_000_000
"""Characters, bytes or elements; above all that an API object can hold."""

EARLIEST = -62135596800 * values.NANOSECONDS
"""0001-01-01T00:00:00Z."""

LATEST = 253402300800 * values.NANOSECONDS - 1
"""9999-12-31T23:59:59.999999999Z."""


def check_int(value: int) -> int:
    """Return an int that fits 64 bits."""
    if not values.INT_MIN <= value <= values.INT_MAX:
        raise CelError("integer overflow")
    return value


def natural(value: int) -> UInt:
    """Return a uint that fits 64 bits."""
    if not 0 <= value <= values.UINT_MAX:
        raise CelError("unsigned integer overflow")
    return UInt(value)


def moment(nanoseconds: int, offset: int = 0) -> Timestamp:
    """Return a timestamp of the years 1 to 9999."""
    if not EARLIEST <= nanoseconds <= LATEST:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def span(nanoseconds: int) -> Duration:
    """Return a duration that fits 64 bits of nanoseconds."""
    if not values.INT_MIN <= nanoseconds <= values.INT_MAX:
        raise CelError("duration overflow")
    return Duration(nanoseconds)


@FUNCTIONS.define("_+_(int, int) -> int")
def add_int(one: int, two: int) -> int:
    """Add, within 64 bits."""
    return check_int(one + two)


@FUNCTIONS.define("_+_(uint, uint) -> uint")
def add_uint(one: UInt, two: UInt) -> UInt:
    """Add, within 64 bits."""
    return natural(int(one) + int(two))


@FUNCTIONS.define("_+_(double, double) -> double")
def add(one: float, two: float) -> float:
    """Add."""
    return one + two


@FUNCTIONS.define("_+_(string, string) -> string", "_+_(bytes, bytes) -> bytes")
def join(one: Any, two: Any) -> Any:
    """Put one text behind the other."""
    check_size(len(one) + len(two))
    return one + two


def check_size(size: int) -> None:
    """Raise where a text or list is larger than any that the server would pay for."""
    if size > SIZE_LIMIT:
        raise over_budget()


@FUNCTIONS.define("_+_(list<A>, list<A>) -> list<A>")
def add_list(one: list[Any], two: list[Any]) -> list[Any]:
    """Join two lists; sets and map lists keep their members unique."""
    check_size(len(one) + len(two))
    return one.merged(two) if isinstance(one, SetList | MapList) else [*one, *two]


@FUNCTIONS.define("_+_(timestamp, duration) -> timestamp")
def add_span(one: Timestamp, two: Duration) -> Timestamp:
    """Move a moment."""
    return moment(one.nanoseconds + two.nanoseconds, one.offset)


@FUNCTIONS.define("_+_(duration, timestamp) -> timestamp")
def span_add(one: Duration, two: Timestamp) -> Timestamp:
    """Move a moment."""
    return add_span(two, one)


@FUNCTIONS.define("_+_(duration, duration) -> duration")
def add_duration(one: Duration, two: Duration) -> Duration:
    """Add two spans."""
    return span(one.nanoseconds + two.nanoseconds)


@FUNCTIONS.define("_-_(int, int) -> int")
def subtract_int(one: int, two: int) -> int:
    """Subtract, within 64 bits."""
    return check_int(one - two)


@FUNCTIONS.define("_-_(uint, uint) -> uint")
def subtract_uint(one: UInt, two: UInt) -> UInt:
    """Subtract; what would be negative is an error."""
    return natural(int(one) - int(two))


@FUNCTIONS.define("_-_(double, double) -> double")
def subtract(one: float, two: float) -> float:
    """Subtract."""
    return one - two


@FUNCTIONS.define("_-_(timestamp, duration) -> timestamp")
def subtract_span(one: Timestamp, two: Duration) -> Timestamp:
    """Move a moment back."""
    return moment(one.nanoseconds - two.nanoseconds, one.offset)


@FUNCTIONS.define("_-_(timestamp, timestamp) -> duration", "_-_(duration, duration) -> duration")
def between(one: Timestamp | Duration, two: Timestamp | Duration) -> Duration:
    """Return the span between two moments, or the difference of two spans."""
    return span(one.nanoseconds - two.nanoseconds)


@FUNCTIONS.define("_*_(int, int) -> int")
def multiply_int(one: int, two: int) -> int:
    """Multiply, within 64 bits."""
    return check_int(one * two)


@FUNCTIONS.define("_*_(uint, uint) -> uint")
def multiply_uint(one: UInt, two: UInt) -> UInt:
    """Multiply, within 64 bits."""
    return natural(int(one) * int(two))


@FUNCTIONS.define("_*_(double, double) -> double")
def multiply(one: float, two: float) -> float:
    """Multiply."""
    return one * two


@FUNCTIONS.define("_/_(int, int) -> int")
def divide_int(one: int, two: int) -> int:
    """Divide, towards zero."""
    if not two:
        raise CelError("division by zero")
    quotient = abs(one) // abs(two)
    return check_int(quotient if (one < 0) == (two < 0) else -quotient)


@FUNCTIONS.define("_/_(uint, uint) -> uint")
def divide_uint(one: UInt, two: UInt) -> UInt:
    """Divide."""
    if not two:
        raise CelError("division by zero")
    return UInt(int(one) // int(two))


@FUNCTIONS.define("_/_(double, double) -> double")
def divide(one: float, two: float) -> float:
    """Divide as IEEE 754 says: by zero is infinite, or no number."""
    if two:
        return one / two
    if not one or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, two)


@FUNCTIONS.define("_%_(int, int) -> int")
def modulo_int(one: int, two: int) -> int:
    """Return the remainder of a division towards zero, with the sign of the dividend."""
    if not two:
        raise CelError("modulus by zero")
    if one == values.INT_MIN and two == -1:
        raise CelError("integer overflow")
    rest = abs(one) % abs(two)
    return -rest if one < 0 else rest


@FUNCTIONS.define("_%_(uint, uint) -> uint")
def modulo_uint(one: UInt, two: UInt) -> UInt:
    """Return the remainder of a division."""
    if not two:
        raise CelError("modulus by zero")
    return UInt(int(one) % int(two))


@FUNCTIONS.define("-_(int) -> int")
def minus_int(value: int) -> int:
    """Negate, within 64 bits."""
    return check_int(-value)


@FUNCTIONS.define("-_(double) -> double")
def minus(value: float) -> float:
    """Negate."""
    return -value
