"""What a scalar means to Kubernetes: YAML 1.1 as sigs.k8s.io/yaml 1.6 reads it and JSON then writes it.

The rules are those of go.yaml.in/yaml/v2 2.4 (`resolve.go`), then Go's JSON encoder and the API machinery's
number conversion: an integral float comes out as an integer, a number beyond 64 bits as a float.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal

Scalar = str | int | float | bool | None

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
UINT64_MAX = 2**64 - 1

WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
"""Plain scalars that mean a boolean, null or a number without digits."""

NUMBER_START = frozenset("0123456789+-.")
INTEGER = re.compile(r"[+-]?(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]{0,19})")
SIGN_INSIDE = re.compile(r"0b[+-][01]{1,64}")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
POINT_FLOAT = re.compile(r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?")


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar as go-yaml reads it: floats may be infinite or NaN, integers unsigned."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_START:
        return text
    number = finite(text, POINT_FLOAT) if text[0] == "." else number_of(text)
    return text if number is None else number


def number_of(text: str) -> int | float | None:
    """Read a number as Go does: an integer of 64 bits in any base, else a decimal float, else nothing."""
    plain = text.replace("_", "")
    if INTEGER.fullmatch(plain):
        value = integer(plain)
        if INT64_MIN <= value <= INT64_MAX or (plain[0] not in "+-" and value <= UINT64_MAX):
            return value
    if (value_float := finite(plain, FLOAT)) is not None:
        return value_float
    if SIGN_INSIDE.fullmatch(plain) and INT64_MIN <= (value := int(plain[2:], 2)) <= INT64_MAX:
        return value
    return None


def integer(digits: str) -> int:
    """Read a Go integer literal: a leading zero means octal, as 0o does."""
    sign, body = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    base = {"b": 2, "o": 8, "x": 16}.get(body[1:2].lower(), 0)
    if base:
        return int(sign + body[2:], base)
    return int(sign + body, 8 if body[0] == "0" else 10)


def finite(text: str, pattern: re.Pattern[str]) -> float | None:
    """Return the float that the pattern allows, or nothing, also where it overflows: 1e400 stays a string."""
    if not pattern.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def as_json(value: Scalar) -> Scalar:
    """Return the value after Go wrote it as JSON and read it back: 1e3 is 1000, 2**63 is a float."""
    if isinstance(value, float):
        if not value.is_integer() or abs(value) >= 1e21:
            return value
        value = int(Decimal(repr(value)))
    elif isinstance(value, bool) or not isinstance(value, int):
        return value
    return value if INT64_MIN <= value <= INT64_MAX else float(value)


def as_key(value: Scalar) -> str | None:
    """Return the JSON key that a resolved scalar becomes, or None for null and unsigned integers, which are refused.

    Numbers and booleans are spelled as sigs.k8s.io/yaml spells them (`yaml.go`, convertToJSONableObject).
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value <= INT64_MAX else None
    return float32_text(value)


def float32_text(value: float) -> str:
    """Spell a float as Go's FormatFloat(value, 'g', -1, 32) does, infinities as YAML does."""
    if math.isnan(value):
        return ".nan"
    try:
        single = struct.pack("f", value)
    except OverflowError:
        single = struct.pack("f", math.copysign(math.inf, value))
    rounded: float = struct.unpack("f", single)[0]
    if math.isinf(rounded):
        return ".inf" if rounded > 0 else "-.inf"
    shortest = next(text for n in range(9) if struct.pack("f", float(text := f"{rounded:.{n}e}")) == single)
    mantissa, _, exponent = shortest.partition("e")
    power = int(exponent)
    if -4 <= power < 6:
        return format(Decimal(mantissa).scaleb(power), "f")
    return f"{mantissa}e{power:+03d}"
