"""Kubernetes quantities and Go durations: parse, compare, add, and the canonical spelling of the API server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_UP, Context, Decimal
from enum import Enum
from functools import total_ordering
from typing import Self

GRAMMAR = re.compile(r"([+-]?)([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
WRONG_SUFFIX = "unable to parse quantity's suffix"

DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
SUFFIX_OF = {power: suffix for suffix, power in DECIMAL_SUFFIXES.items()}

MAX_BINARY = Decimal(2**63 - 1)
NANO = Decimal("1e-9")
WIDE = Context(prec=1000)
"""Exact for every amount of at most a thousand digits."""


class Format(Enum):
    """How a quantity was written, which is how it is written back."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class Quantity:
    """An exact amount in base units (bytes, cores, pieces), equal to another of the same amount however written.

    Mirrors resource.Quantity of apimachinery 0.35 (`pkg/api/resource/quantity.go`).
    """

    amount: Decimal
    format: Format = Format.DECIMAL_SI
    text: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, value: str | float) -> Self:
        """Read a quantity as the API server does from JSON, where numbers are quantities too.

        Raises ValueError with the server's words. Amounts below 1n are rounded up to it; binary ones are capped at
        2^63-1.
        """
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(WRONG)  # noqa: TRY004  # a wrong type in a manifest is a wrong quantity
        text = value.strip(SPACES) if isinstance(value, str) else number_text(value)
        match = GRAMMAR.fullmatch(text)
        if not text or match is None:
            raise ValueError(WRONG)
        sign, whole, fraction, suffix = match.groups()
        whole, digits = whole.lstrip("0"), (fraction or ".")[1:]
        power, format_ = _suffix(suffix)
        unscaled = Decimal((whole + digits) or "0")
        if format_ is Format.BINARY_SI:
            return cls._binary(text, sign, unscaled, whole, digits, power)
        scale = power - len(digits)
        amount = unscaled.scaleb(scale, WIDE)
        kept = None
        if len(whole or "0") + len(digits) <= 18 and scale >= -9:
            shifted = (whole or "0") + digits
            if scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0":
                kept = text
        elif scale < -9:
            amount = _up(amount, NANO)
        return cls(-amount if sign == "-" else amount, format_, kept)

    @classmethod
    def _binary(cls, text: str, sign: str, unscaled: Decimal, whole: str, digits: str, power: int) -> Self:
        amount = (unscaled * 2**power).scaleb(-len(digits), WIDE)
        negative = sign == "-"
        if not digits and 14 - len(whole or "0") - int(power * 3 / 10) >= 0:
            kept = text if power % 10 == 0 and int(unscaled) & 7 else None
            return cls(-amount if negative else amount, Format.BINARY_SI, kept)
        amount = min(_up(amount, NANO), MAX_BINARY)
        format_ = Format.DECIMAL_SI if 0 < amount < 1 else Format.BINARY_SI
        return cls(-amount if negative else amount, format_)

    def canonical(self) -> str:
        """Write the quantity as the API server would: `1536Mi`, `500m`, `2`.

        A spelling that the server keeps as it came (`1.500`, `+5`) stays, as in Quantity.String().
        """
        if self.text is not None:
            return self.text
        if not self.amount:
            return "0"
        if self.format is Format.BINARY_SI and abs(self.amount) >= 1024 and self.amount == int(self.amount):
            return self._binary_text()
        mantissa, power = _thousands(self.amount)
        if self.format is Format.DECIMAL_EXPONENT or power not in SUFFIX_OF:
            return f"{mantissa}e{power}" if power else str(mantissa)
        return f"{mantissa}{SUFFIX_OF[power]}"

    def _binary_text(self) -> str:
        mantissa, suffix = int(self.amount), ""
        for name in BINARY_SUFFIXES:
            if mantissa % 1024:
                break
            mantissa, suffix = mantissa // 1024, name
        return f"{mantissa}{suffix}"

    def value(self) -> int:
        """Return the amount in base units, rounded away from zero to a whole number."""
        return int(_up(self.amount, Decimal(1)))

    def milli_value(self) -> int:
        """Return the amount in thousandths of the base unit, rounded away from zero to a whole number."""
        return int(_up(self.amount.scaleb(3, WIDE), Decimal(1)))

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(WIDE.add(self.amount, other.amount), self.format if self.amount else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(WIDE.subtract(self.amount, other.amount), self.format if self.amount else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(WIDE.multiply(self.amount, Decimal(times)), self.format)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return Quantity(-self.amount, self.format)

    def __eq__(self, other: object) -> bool:
        return self.amount == other.amount if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.amount < other.amount

    def __hash__(self) -> int:
        return hash(self.amount)

    def __bool__(self) -> bool:
        return bool(self.amount)

    def __str__(self) -> str:
        return self.canonical()


SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go's strings.TrimSpace trims."""


def number_text(number: float) -> str:
    """Write a number as Go's JSON encoder does, which is what a quantity given as a number is parsed from."""
    if isinstance(number, int):
        return str(number)
    if number and not 1e-6 <= abs(number) < 1e21:
        mantissa, _, power = repr(number).partition("e")
        return f"{mantissa}e{'-' if power.startswith('-') else '+'}{power.lstrip('+-0')}"
    return format(Decimal(repr(number)), "f").removesuffix(".0")


def _suffix(suffix: str) -> tuple[int, Format]:
    if suffix in DECIMAL_SUFFIXES:
        return DECIMAL_SUFFIXES[suffix], Format.DECIMAL_SI
    if suffix in BINARY_SUFFIXES:
        return BINARY_SUFFIXES[suffix], Format.BINARY_SI
    match = EXPONENT.fullmatch(suffix)
    if match is None or len(match.group(1)) > 20 or abs(power := int(match.group(1))) >= 2**63:
        raise ValueError(WRONG_SUFFIX)
    return (power + 2**31) % 2**32 - 2**31, Format.DECIMAL_EXPONENT


def _thousands(amount: Decimal) -> tuple[int, int]:
    """Split an amount into a whole mantissa and the largest power of ten that is a multiple of three."""
    sign, digits, exponent = amount.as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    power = int(exponent) + len(text) - len(stripped)
    shift = power % 3
    mantissa = int(stripped) * 10**shift
    return -mantissa if sign else mantissa, power - shift


def _up(amount: Decimal, step: Decimal) -> Decimal:
    """Round away from zero to a multiple of a power of ten; amounts that are multiples already stay as they are."""
    exponent, finest = amount.as_tuple().exponent, step.as_tuple().exponent
    if not isinstance(exponent, int) or not isinstance(finest, int) or exponent >= finest:
        return amount
    if amount.adjusted() < finest - 1:
        return step.copy_sign(amount) if amount else amount
    return amount.quantize(step, rounding=ROUND_UP, context=WIDE)
