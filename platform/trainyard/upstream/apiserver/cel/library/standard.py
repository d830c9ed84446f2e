"""Sizes, conversions between types, and the four tests on text that CEL itself has.

Source: google/cel-go v0.26.0 common/stdlib/standard.go, common/types.
"""

from __future__ import annotations

import math
import re
from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError, Unknown
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library.arithmetic import check_int, moment, natural
from trainyard.upstream.apiserver.cel.values import NANOSECONDS, Duration, Timestamp, TypeValue, UInt
from trainyard.upstream.apiserver.patterns import NotRead, TooLarge, compile_pattern

FUNCTIONS = Functions()

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DOUBLE = re.compile(r"[+-]?[0-9_.]+([eE][+-]?[0-9_]+)?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+", re.ASCII)
_WORDS = re.compile(r"[+-]?(inf|infinity)|nan", re.IGNORECASE | re.ASCII)
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


@FUNCTIONS.define(
    *(
        form.format(kind)
        for kind in ("string", "bytes", "list<A>", "map<A, B>")
        for form in ("size({}) -> int", "{}.size() -> int")
    )
)
def size(value: Any) -> int:
    """Characters, bytes, elements or keys."""
    return len(value)


@FUNCTIONS.define("type(A) -> type<A>")
def type_of(value: Any) -> TypeValue:
    """Return the type of a value."""
    return TypeValue(values.type_name(value))


@FUNCTIONS.define(
    "dyn(A) -> dyn",
    *(
        f"{kind}({kind}) -> {kind}"
        for kind in ("bool", "bytes", "double", "int", "uint", "string", "timestamp", "duration")
    ),
)
def same(value: Any) -> Any:
    """Return a value as it is."""
    return value


def conversion(kind: str, value: object) -> CelError:
    """Say that a value has no counterpart in another type."""
    return CelError(f"type conversion error from '{values.type_name(value)}' to '{kind}'")


@FUNCTIONS.define("bool(string) -> bool")
def to_bool(text: str) -> bool:
    """Read the words that Go takes for true and false."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise conversion("bool", text)


@FUNCTIONS.define("bytes(string) -> bytes")
def to_bytes(text: str) -> bytes:
    """Encode as UTF-8."""
    return text.encode()


@FUNCTIONS.define("double(int) -> double", "double(uint) -> double")
def to_double(value: int) -> float:
    """Convert to the nearest double."""
    return float(value)


@FUNCTIONS.define("double(string) -> double")
def parse_double(text: str) -> float:
    """Read a number as Go's strconv.ParseFloat does."""
    if _WORDS.fullmatch(text):
        return float(text)
    try:
        if _DOUBLE.fullmatch(text) and math.isfinite(number := float(text)):
            return number
        if _HEXADECIMAL.fullmatch(text):
            return float.fromhex(text)
    except (ValueError, OverflowError):
        pass
    raise conversion("double", text)


@FUNCTIONS.define("int(double) -> int")
def truncate(value: float) -> int:
    """Cut the fraction off."""
    if not math.isfinite(value) or not float(values.INT_MIN) < value < float(values.INT_MAX):
        raise CelError("integer overflow")
    return int(value)


@FUNCTIONS.define("int(uint) -> int")
def to_signed(value: UInt) -> int:
    """Convert a uint that is small enough."""
    return check_int(int(value))


@FUNCTIONS.define("int(string) -> int")
def parse_int(text: str) -> int:
    """Read a decimal integer."""
    if _INTEGER.fullmatch(text) and len(text) < 40 and values.INT_MIN <= (number := int(text)) <= values.INT_MAX:
        return number
    raise conversion("int", text)


@FUNCTIONS.define("int(timestamp) -> int")
def epoch_seconds(value: Timestamp) -> int:
    """Whole seconds since 1970."""
    return value.nanoseconds // NANOSECONDS


@FUNCTIONS.define("int(duration) -> int")
def nanoseconds(value: Duration) -> int:
    """Nanoseconds."""
    return value.nanoseconds


@FUNCTIONS.define("uint(double) -> uint")
def truncate_unsigned(value: float) -> UInt:
    """Cut the fraction off."""
    if not math.isfinite(value) or not 0 <= value < float(values.UINT_MAX):
        raise CelError("unsigned integer overflow")
    return UInt(int(value))


@FUNCTIONS.define("uint(int) -> uint")
def to_unsigned(value: int) -> UInt:
    """Convert an int that is not negative."""
    return natural(value)


@FUNCTIONS.define("uint(string) -> uint")
def parse_uint(text: str) -> UInt:
    """Read a decimal integer without a sign."""
    if text.isdecimal() and text.isascii() and len(text) < 40 and (number := int(text)) <= values.UINT_MAX:
        return UInt(number)
    raise conversion("uint", text)


@FUNCTIONS.define("string(bool) -> string")
def bool_text(value: bool) -> str:
    """Write `true` or `false`."""
    return "true" if value else "false"


@FUNCTIONS.define("string(int) -> string", "string(uint) -> string")
def int_text(value: int) -> str:
    """Decimal digits."""
    return str(int(value))


@FUNCTIONS.define("string(double) -> string")
def double_text(value: float) -> str:
    """Write the shortest decimal that reads back the same, with an exponent where Go's %g has one."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    mantissa, _, exponent = f"{value!r}".partition("e")
    digits = mantissa.lstrip("-").replace(".", "")
    whole_digits = len(mantissa.lstrip("-").partition(".")[0])
    stripped = digits.lstrip("0")
    if not stripped:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    power = int(exponent or 0) + whole_digits - 1 - (len(digits) - len(stripped))
    significant = stripped.rstrip("0")
    sign = "-" if value < 0 else ""
    if -4 <= power < 6:
        return sign + _plain(significant, power)
    fraction = f".{significant[1:]}" if len(significant) > 1 else ""
    return f"{sign}{significant[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _plain(digits: str, power: int) -> str:
    """Place the decimal point: `power` is the exponent of the first digit."""
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    if len(digits) <= power + 1:
        return digits + "0" * (power + 1 - len(digits))
    return f"{digits[: power + 1]}.{digits[power + 1 :]}"


@FUNCTIONS.define("string(bytes) -> string")
def decode(value: bytes) -> str:
    """Decode UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


@FUNCTIONS.define("timestamp(int) -> timestamp")
def from_epoch(seconds: int) -> Timestamp:
    """Return the moment so many seconds after 1970."""
    return moment(seconds * NANOSECONDS)


@FUNCTIONS.define("duration(int) -> duration")
def from_number(count: int) -> Duration:
    """Refuse: the signature is there upstream, the conversion is not."""
    raise conversion("google.protobuf.Duration", count)


@FUNCTIONS.define("string.contains(string) -> bool")
def contains(text: str, part: str) -> bool:
    """Whether text holds a part."""
    return part in text


@FUNCTIONS.define("string.startsWith(string) -> bool")
def starts_with(text: str, part: str) -> bool:
    """Whether text begins so."""
    return text.startswith(part)


@FUNCTIONS.define("string.endsWith(string) -> bool")
def ends_with(text: str, part: str) -> bool:
    """Whether text ends so."""
    return text.endswith(part)


def pattern(expression: str, *, captures: bool = False) -> Any:
    """Compile an RE2 pattern; raises CelError."""
    try:
        return compile_pattern(expression, captures=captures)
    except NotRead as error:
        raise CelError(f"error parsing regexp: {error}") from None
    except TooLarge:
        raise Unknown("a pattern that is too large to be compiled here") from None


@FUNCTIONS.define("matches(string, string) -> bool", "string.matches(string) -> bool")
def matches(text: str, expression: str) -> bool:
    """Whether a pattern is found anywhere in text."""
    return pattern(expression).search(text) is not None
