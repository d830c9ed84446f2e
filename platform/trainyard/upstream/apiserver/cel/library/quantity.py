"""Kubernetes quantities: sizes, amounts of CPU.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/quantity.go; apimachinery v0.35.4 pkg/api/resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from trainyard.base.quantities import MOST_DIGITS, WIDE, Format, Quantity
from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import Opaque

FUNCTIONS = Functions(since=28)

QUANTITY = "kubernetes.Quantity"

FAST_DIGITS, BINARY_DIGITS = 18, 15
"""Digits up to which apimachinery keeps a decimal or a binary amount as a 64-bit number times a power of ten."""


@dataclass(frozen=True, slots=True, eq=False)
class Amount:
    """A quantity, and whether the server keeps it as a 64-bit number: only then `isInteger` can be true."""

    quantity: Quantity
    fast: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and self.quantity == other.quantity

    def __hash__(self) -> int:
        return hash(self.quantity)


@lru_cache(maxsize=4096)
def parse(text: str) -> Amount:
    """Read a quantity; raises ValueError with the server's words. White space around it is an error."""
    if text != text.strip():
        raise ValueError("quantities must not have white space around them")
    quantity = Quantity.parse(text)
    digits = [part.lstrip("0") if not place else part for place, part in enumerate(_digits(text).split("."))]
    written = max(len(digits[0]), 1) + (len(digits[1]) if len(digits) > 1 else 0)
    if quantity.format is Format.BINARY_SI:
        power = _binary_power(text)
        return Amount(quantity, "." not in text and BINARY_DIGITS - 1 - written - power * 3 // 10 >= 0)
    return Amount(quantity, written <= FAST_DIGITS and not text.endswith("i") and _exponent(quantity.exact) >= -9)


def _digits(text: str) -> str:
    body = text.lstrip("+-")
    end = next((place for place, char in enumerate(body) if char not in "0123456789."), len(body))
    return body[:end]


def _binary_power(text: str) -> int:
    return 10 * ("KMGTPE".index(text[-2]) + 1)


def _exponent(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def box(amount: Amount) -> Opaque:
    """Wrap an amount as a value of CEL."""
    return Opaque(QUANTITY, amount)


def amount_of(value: Opaque) -> Amount:
    """Return the amount within a value."""
    assert isinstance(value.content, Amount)
    return value.content


@FUNCTIONS.define("quantity(string) -> kubernetes.Quantity")
def quantity_of(text: str) -> Opaque:
    """Read a quantity."""
    try:
        return box(parse(text))
    except ValueError as error:
        raise CelError(str(error)) from None


@FUNCTIONS.define("isQuantity(string) -> bool")
def is_quantity(text: str) -> bool:
    """Whether text is a quantity."""
    try:
        parse(text)
    except ValueError:
        return False
    return True


def comparison(one: Opaque, two: Opaque) -> int:
    """-1, 0 or 1."""
    left, right = amount_of(one).quantity, amount_of(two).quantity
    return (left > right) - (left < right)


@FUNCTIONS.define("sign(kubernetes.Quantity) -> int")
def sign(value: Opaque) -> int:
    """-1 below zero, 0, or 1."""
    amount = amount_of(value).quantity.exact
    return (amount > 0) - (amount < 0)


@FUNCTIONS.define("kubernetes.Quantity.isGreaterThan(kubernetes.Quantity) -> bool")
def is_greater(one: Opaque, two: Opaque) -> bool:
    """Whether one is above the other."""
    return comparison(one, two) > 0


@FUNCTIONS.define("kubernetes.Quantity.isLessThan(kubernetes.Quantity) -> bool")
def is_less(one: Opaque, two: Opaque) -> bool:
    """Whether one is below the other."""
    return comparison(one, two) < 0


FUNCTIONS.define("kubernetes.Quantity.compareTo(kubernetes.Quantity) -> int")(comparison)


@FUNCTIONS.define("kubernetes.Quantity.asApproximateFloat() -> double")
def as_float(value: Opaque) -> float:
    """Return the nearest double."""
    return float(amount_of(value).quantity.exact)


def whole_amount(amount: Amount) -> int | None:
    """Return the amount as a 64-bit number, None where the server has none: it does not reduce `1000m` or `1.0`."""
    number = amount.quantity.exact
    if not amount.fast or _exponent(number) < 0 or number.adjusted() >= MOST_DIGITS:
        return None
    found = int(number)
    return found if values.INT_MIN <= found <= values.INT_MAX else None


@FUNCTIONS.define("kubernetes.Quantity.isInteger() -> bool")
def is_integer(value: Opaque) -> bool:
    """Whether the server can give the amount as a 64-bit number."""
    return whole_amount(amount_of(value)) is not None


@FUNCTIONS.define("kubernetes.Quantity.asInteger() -> int")
def as_integer(value: Opaque) -> int:
    """Return the amount as a 64-bit number."""
    found = whole_amount(amount_of(value))
    if found is None:
        raise CelError("cannot convert value to integer")
    return found


def as_amount(value: Opaque | int) -> Amount:
    """Take a quantity or a plain number."""
    return Amount(Quantity(Decimal(value)), fast=True) if isinstance(value, int) else amount_of(value)


def combine_amounts(one: Amount, two: Amount, total: Quantity) -> Opaque:
    """Wrap a sum, remembering whether it still fits 64 bits; raises OverflowError for one of too many digits.

    A server writes all of them out.
    """
    if one.fast and not two.quantity:
        return box(one)
    if one.fast and two.fast and not one.quantity:
        return box(Amount(total, fast=True))
    exponent = min(_exponent(one.quantity.exact), _exponent(two.quantity.exact))
    if total.exact.adjusted() - exponent >= WIDE.prec:
        raise OverflowError("a sum of more digits than are computed here")
    units = WIDE.abs(total.exact).scaleb(-exponent, WIDE)
    return box(Amount(total, fast=one.fast and two.fast and units <= values.INT_MAX))


@FUNCTIONS.define(
    "kubernetes.Quantity.add(kubernetes.Quantity) -> kubernetes.Quantity",
    "kubernetes.Quantity.add(int) -> kubernetes.Quantity",
)
def add(one: Opaque, two: Opaque | int) -> Opaque:
    """Add."""
    left, right = as_amount(one), as_amount(two)
    return combine_amounts(left, right, left.quantity + right.quantity if left.quantity else right.quantity)


@FUNCTIONS.define(
    "kubernetes.Quantity.sub(kubernetes.Quantity) -> kubernetes.Quantity",
    "kubernetes.Quantity.sub(int) -> kubernetes.Quantity",
)
def subtract(one: Opaque, two: Opaque | int) -> Opaque:
    """Subtract."""
    left, right = as_amount(one), as_amount(two)
    return combine_amounts(left, right, left.quantity - right.quantity if left.quantity else -right.quantity)
