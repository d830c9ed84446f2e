"""Kubernetes quantities and Go durations: parse, compare, add, and the canonical spelling of the API server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal
from enum import Enum
from functools import lru_cache, total_ordering
from typing import NamedTuple

GRAMMAR = re.compile(r"([+-]?)([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
WRONG_NUMBER = "unable to parse numeric part of quantity"
WRONG_SUFFIX = "unable to parse quantity's suffix"

DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
SUFFIX_OF = {power: suffix for suffix, power in DECIMAL_SUFFIXES.items()}

MAX_BINARY = Decimal(2**63 - 1)
NANO = Decimal("1e-9")
ONE = Decimal(1)
NOTHING, LITTLE = Decimal(0), Decimal("0e-10")
"""Zero with a great power of ten, which is nothing at all, and with one below what the server's numbers hold."""
HUGE = Decimal("1e1000")
WIDE = Context(prec=1100, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Exact for every amount of at most 1,100 digits."""

MOST_DIGITS = 19
MOST = Decimal(1).scaleb(MOST_DIGITS)
"""Beyond every number of 64 bits, in which Kubernetes counts. With billionths it has 28 digits, as many as Python's
decimals keep by default; the server itself keeps `1e1000000000` (apimachinery v0.35.4 pkg/api/resource/quantity.go)."""


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

    exact: Decimal
    """The amount as it was written, of whatever size: it is compared and added, and never made a whole number."""
    format: Format = Format.DECIMAL_SI
    text: str | None = field(default=None, repr=False)

    @property
    def amount(self) -> Decimal:
        """The amount within 10^19, just beyond what 64 bits hold: safe to compute with, whatever somebody wrote."""
        return self.exact if self.exact.adjusted() < MOST_DIGITS else MOST.copy_sign(self.exact)

    @staticmethod
    def parse(value: str | float) -> Quantity:
        """Read a quantity as the API server does from JSON, where numbers are quantities too.

        Raises ValueError with the server's words. Amounts below 1n are rounded up to it; binary ones are capped at
        2^63-1.
        """
        if isinstance(value, str):
            return _read(value.strip(SPACES))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(WRONG)  # noqa: TRY004  # a wrong type in a manifest is a wrong quantity
        return _read(number_text(value))

    def canonical(self) -> str:
        """Write the quantity as the API server would: `1536Mi`, `500m`, `2`.

        A spelling that the server keeps as it came (`1.500`, `+5`) stays, as in Quantity.String().
        """
        if self.text is not None:
            return self.text
        if not self.exact:
            return "0"
        if (
            self.format is Format.BINARY_SI
            and 1024 <= self.exact.copy_abs() < HUGE
            and _up(self.exact, ONE) == self.exact
        ):
            return self._binary_text()
        mantissa, power = _thousands(self.exact)
        if self.format is Format.DECIMAL_EXPONENT or power not in SUFFIX_OF:
            return f"{mantissa}e{power}" if power else str(mantissa)
        return f"{mantissa}{SUFFIX_OF[power]}"

    def _binary_text(self) -> str:
        mantissa, suffix = int(self.exact), ""
        for name in BINARY_SUFFIXES:
            if mantissa % 1024:
                break
            mantissa, suffix = mantissa // 1024, name
        return f"{mantissa}{suffix}"

    def value(self) -> int:
        """Return the amount in base units, rounded away from zero to a whole number, within 10^19."""
        return int(_up(self.amount, ONE))

    def milli_value(self) -> int:
        """Return the amount in thousandths of the base unit, rounded away from zero, within 10^22."""
        return int(_up(self.amount.scaleb(3), ONE))

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(WIDE.add(self.exact, other.exact), self.format if self.exact else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(WIDE.subtract(self.exact, other.exact), self.format if self.exact else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(WIDE.multiply(self.exact, Decimal(times)), self.format)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return Quantity(self.exact.copy_negate(), self.format)

    def __eq__(self, other: object) -> bool:
        return self.exact == other.exact if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.exact < other.exact

    def __hash__(self) -> int:
        return hash(self.exact)

    def __bool__(self) -> bool:
        return bool(self.exact)

    def __str__(self) -> str:
        return self.canonical()


@lru_cache(maxsize=4096)
def _read(text: str) -> Quantity:
    match = GRAMMAR.fullmatch(text)
    if not text or match is None:
        raise ValueError(WRONG)
    sign, whole, fraction, suffix = match.groups()
    power, form = _suffix(suffix)
    number = _Number(whole.lstrip("0") or "0", (fraction or ".")[1:], power)
    amount, exact, kept = number.binary() if form is Format.BINARY_SI else number.decimal()
    if not exact and not (whole or number.fraction):
        raise ValueError(WRONG_NUMBER)
    if not exact and form is Format.BINARY_SI and 0 < amount < 1:
        form = Format.DECIMAL_SI
    return Quantity(amount.copy_negate() if sign == "-" else amount, form, text if kept else None)


class _Number(NamedTuple):
    """A number as written: digits before the point without leading zeros, digits behind it, power of its suffix.

    Its amount comes with whether the server's parser gets it without rounding, and whether it keeps the spelling.
    """

    whole: str
    fraction: str
    power: int

    def decimal(self) -> tuple[Decimal, bool, bool]:
        digits, scale = self.whole + self.fraction, self.power - len(self.fraction)
        if not -9 <= scale <= 0 and not digits.strip("0"):
            return (NOTHING, True, False) if scale > 0 and len(digits) <= 18 else (LITTLE, False, False)
        amount = Decimal(digits).scaleb(scale, WIDE)
        if len(digits) > 18 or scale < -9:
            return _up(amount, NANO), False, False
        return amount, True, scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"

    def binary(self) -> tuple[Decimal, bool, bool]:
        unscaled = Decimal(self.whole + self.fraction)
        amount = WIDE.multiply(unscaled, Decimal(2**self.power)).scaleb(-len(self.fraction), WIDE)
        if self.fraction or len(self.whole) + self.power * 3 // 10 > 14:
            return min(_up(amount, NANO), MAX_BINARY), False, False
        return amount, True, bool(int(unscaled) & 7)


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
    if amount.same_quantum(step):
        return amount
    exponent, finest = amount.as_tuple().exponent, step.as_tuple().exponent
    if not isinstance(exponent, int) or not isinstance(finest, int) or exponent >= finest:
        return amount
    if amount.adjusted() < finest - 1:
        return step.copy_sign(amount) if amount else amount
    return amount.quantize(step, rounding=ROUND_UP, context=WIDE)


UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
"""Nanoseconds of Go's units of time; the two micro signs differ."""

PIECE = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)", re.ASCII)
UNQUOTABLE = re.compile(r"[^ !#-\[\]-~\x7f]")
MAX_DURATION = 2**63 - 1


def parse_duration(text: str) -> int:
    """Read a Go duration (`1h30m`, `-1.5s`, `0`) as nanoseconds; raises ValueError with Go's words.

    Mirrors time.ParseDuration of Go 1.26, with its rounding of fractions.
    """
    negative, rest = text[:1] == "-", text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest) or not rest:
        match = PIECE.match(rest, at)
        assert match is not None
        whole, fraction, unit = match[1].lstrip("0"), match[2], match[3]
        if not (match[1] or fraction) or len(whole) > 19 or int(whole or "0") > MAX_DURATION + 1:
            raise ValueError(f"time: invalid duration {_quoted(text)}")
        if unit not in UNITS:
            what = f"unknown unit {_quoted(unit)} in" if unit else "missing unit in"
            raise ValueError(f"time: {what} duration {_quoted(text)}")
        total += int(whole or "0") * UNITS[unit] + _part(fraction or "", UNITS[unit])
        if total > MAX_DURATION + negative:
            raise ValueError(f"time: invalid duration {_quoted(text)}")
        at = match.end()
    return -total if negative else total


def _part(fraction: str, unit: int) -> int:
    value, scale = 0, 1.0
    for digit in fraction:
        longer = value * 10 + int(digit)
        if value > MAX_DURATION // 10 or longer > MAX_DURATION + 1:
            break
        value, scale = longer, scale * 10
    return int(float(value) * (float(unit) / scale))


def _quoted(text: str) -> str:
    return '"' + UNQUOTABLE.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return f"\\{char}" if char in '"\\' else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))


def duration_text(nanoseconds: int) -> str:
    """Write a duration as Go does: `1h30m0s`, `1.5s`, `100ms`, `0s`."""
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < UNITS["s"]:
        unit = next((name for name in ("ms", "µs", "ns") if rest >= UNITS[name]), "s")
        return f"{sign}{_fraction(rest, UNITS[unit])}{unit}"
    minutes, seconds = divmod(rest, UNITS["m"])
    text = _fraction(seconds, UNITS["s"]) + "s"
    if minutes >= 60:
        return f"{sign}{minutes // 60}h{minutes % 60}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _fraction(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1).rstrip('0')}" if rest else str(whole)


WHOLE = re.compile("[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    r"""Return the number that at most 18 digits of ASCII are, None for any other text.

    Python takes other digits too, some of which `int` refuses, and it refuses to read thousands of digits.

    >>> whole_number("08"), whole_number("-1"), whole_number("\N{SUPERSCRIPT TWO}"), whole_number("9" * 5000)
    (8, None, None, None)
    """
    return int(text) if WHOLE.fullmatch(text) else None
