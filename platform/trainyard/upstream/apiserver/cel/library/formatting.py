"""`string.format`: printf for CEL, with the separators of American English, as upstream writes them.

Source: google/cel-go v0.26.0 ext/formatting.go.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.library import standard, times
from trainyard.upstream.apiserver.cel.values import Duration, Timestamp, TypeValue

PRECISION = 6
_CLAUSE = re.compile(r"%(?:(%)|(?:\.(\d+))?(.?))", re.ASCII | re.DOTALL)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPECIAL = frozenset({"NaN", "Infinity", "-Infinity"})

ACCEPTS: dict[str, frozenset[str] | None] = {
    "s": None,
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}
"""Types that a clause takes; None is any that has a text."""


def clauses(text: str) -> Iterator[tuple[int, int, str, int]]:
    """Yield start, end, letter and precision of each clause, `%%` included; raises CelError for an unknown one.

    A precision above a thousand digits counts as that.
    """
    for match in _CLAUSE.finditer(text):
        letter = match[1] or match[3]
        if not letter:
            raise CelError("unexpected end of string")
        if letter != "%" and letter not in ACCEPTS:
            raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
        precision = int(match[2]) if match[2] and len(match[2]) < 4 else 1000 if match[2] else PRECISION
        yield match.start(), match.end(), letter, precision


def render(text: str, arguments: list[Any]) -> str:
    """Fill the clauses of a text with arguments."""
    parts, end, used = [], 0, 0
    for start, stop, letter, precision in clauses(text):
        parts.append(text[end:start])
        end = stop
        if letter == "%":
            parts.append("%")
            continue
        if used >= len(arguments):
            raise CelError(f"index {used} out of range")
        parts.append(clause(letter, precision, arguments[used]))
        used += 1
    return "".join((*parts, text[end:]))


def clause(letter: str, precision: int, value: Any) -> str:
    """Write one argument."""
    if letter == "s":
        return plain(value)
    kind = values.type_name(value)
    accepted = ACCEPTS[letter]
    if accepted is not None and kind not in accepted:
        raise CelError(f"error during formatting: %{letter} takes {', '.join(sorted(accepted))}, not {kind}")
    if letter in "fe":
        if isinstance(value, str) and value not in _SPECIAL:
            raise CelError(f"error during formatting: %{letter} takes a double, not {value!r}")
        return write_fixed(float(value), precision) if letter == "f" else scientific(float(value), precision)
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return data.hex().upper() if letter == "X" else data.hex()
    return format(int(value), letter)


def write_fixed(value: float, precision: int) -> str:
    """Write a number with its thousands grouped."""
    return special(value) or f"{value:,.{precision}f}"


def scientific(value: float, width: int) -> str:
    """Write a number as a power of ten; upstream takes the precision for a width."""
    if found := special(value):
        return found
    mantissa, _, exponent = f"{value:.{PRECISION}e}".partition("e")
    return f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}".rjust(width)


def special(value: float) -> str:
    """Write what is no finite number, or return nothing."""
    if math.isnan(value):
        return "NaN"
    return ("∞" if value > 0 else "-∞") if math.isinf(value) else ""


def plain(value: Any) -> str:
    """Write a value as `%s` does."""
    if isinstance(value, list):
        return f"[{', '.join(map(write_nested, value))}]"
    if isinstance(value, dict):
        pairs = sorted((write_nested(key), write_nested(entry)) for key, entry in value.items())
        return "{" + ", ".join(f"{key}:{text}" for key, text in pairs) + "}"
    if value is None:
        return "null"
    return text_of(value)


def write_nested(value: Any) -> str:
    """Write a value as it stands within a list or a map: text in quotes, times as calls."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return f"b{json.dumps(value.decode(errors='replace'), ensure_ascii=False)}"
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{value:.{PRECISION}f}"
        return f'"{standard.double_text(value)}"'
    if isinstance(value, Timestamp):
        return f'timestamp("{times.timestamp_text(value)}")'
    if isinstance(value, Duration):
        return f'duration("{times.duration_text(value)}")'
    return plain(value)


def text_of(value: Any) -> str:
    """Convert a simple value to text, as `string()` does."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return standard.bool_text(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return standard.double_text(value)
    if isinstance(value, bytes):
        return standard.decode(value)
    if isinstance(value, Timestamp):
        return times.timestamp_text(value)
    if isinstance(value, Duration):
        return times.duration_text(value)
    if isinstance(value, TypeValue):
        return value.name
    raise CelError(f"error during formatting: no formatting function for {values.type_name(value)}")
