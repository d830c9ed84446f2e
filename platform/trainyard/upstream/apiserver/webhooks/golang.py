"""How Go reads numbers, truth values and durations from text: `strconv` and `time` of Go 1.25."""

from __future__ import annotations

import re

from trainyard.base.quantities import UNITS, parse_duration

_INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
_DIGITS = "[0-9](?:_?[0-9])*"
_FLOAT = re.compile(
    rf"[+-]?(?:(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:e[+-]?[0-9]+)?"
    r"|0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+|inf(?:inity)?|nan)",
    re.IGNORECASE,
).fullmatch
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def integer(text: str, *, bits: int = 64) -> int | None:
    """A decimal integer of so many bits, or None (strconv.ParseInt, Atoi)."""
    if not _INTEGER(text) or len(text) > 64:
        return None
    value = int(text)
    return value if -(1 << bits - 1) <= value < 1 << bits - 1 else None


def parse_unsigned(text: str) -> int | None:
    """A decimal integer without a sign, of 64 bits, or None (strconv.ParseUint)."""
    if not text.isascii() or not text.isdigit() or len(text) > 64:
        return None
    value = int(text)
    return value if value < 1 << 64 else None


def boolean(text: str) -> bool | None:
    """A truth value, or None (strconv.ParseBool)."""
    return True if text in _TRUE else False if text in _FALSE else None


def decimal(text: str) -> float | None:
    """A floating point number, whose digits underscores may part, or None (strconv.ParseFloat)."""
    if not _FLOAT(text):
        return None
    try:
        value = float.fromhex(text) if "0x" in text.lower() else float(text)
    except OverflowError:
        return None
    infinite = value in (float("inf"), float("-inf"))
    return None if infinite and "inf" not in text.lower() else value


def seconds(text: str) -> float | None:
    """The length of a Go duration such as `1h30m`, or None (time.ParseDuration)."""
    try:
        return parse_duration(text) / UNITS["s"]
    except ValueError:
        return None
