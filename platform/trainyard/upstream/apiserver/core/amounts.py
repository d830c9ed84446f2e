"""Quantities in core objects as whole nano units: cached, comparable as integers; and the rule that they are some."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.base.quantities import Format, Quantity
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

QUANTITY = Rule(
    "core/quantity",
    "k8s.io/apimachinery v0.35.4 pkg/api/resource/quantity.go ParseQuantity",
    title="Resource amounts are Kubernetes quantities.",
    fix="write a quantity such as 500m, 2 or 64Gi",
)
NOT_QUANTITY = "must be a quantity, such as 500m, 2 or 64Gi"
NANO = 10**9
_MOST_FAST_DIGITS = 18
"""Digits up to which the server keeps an amount as an int64 and a power of ten."""
_WRAPPING_POWERS = (1, 2, 3, 6, 9)
"""Powers of ten by which an int64 wraps around; other multiplications that overflow come to nothing."""
_MOST_DIGITS = 60
"""Amounts beyond this many digits are all equally huge."""
_HUGE: int = 10**_MOST_DIGITS


@lru_cache(maxsize=4096)
def _nanos(value: str | float, kind: str) -> int | None:  # noqa: ARG001  # keeps 1, 1.0 and True apart in the cache
    try:
        amount = Quantity.parse(value).exact
    except (ValueError, ArithmeticError):
        return None
    if amount.adjusted() > _MOST_DIGITS:
        return -_HUGE if amount < 0 else _HUGE
    whole: int = int(amount * NANO)
    return whole


def nanos(value: Any) -> int | None:
    """A quantity in billionths; None for what is none. Null is zero, as in Go."""
    if type(value) in (str, int, float):
        amount: int | None = _nanos(value, type(value).__name__)
        return amount
    return 0 if value is None else None


def millis(value: Any) -> int | None:
    """A quantity in thousandths, rounded up, as the server rounds every resource list."""
    amount = nanos(value)
    return None if amount is None else -(-amount // 1_000_000)


def canonical(value: Any) -> str | None:
    """A quantity as the server spells it; None for what is none."""
    if nanos(value) is None or value is None:
        return None
    return Quantity.parse(value).canonical()


def as_int64(value: Any, *, thousandths: bool = False) -> int:
    """A quantity as the server counts it in 64 bits, in units or in thousandths: huge ones wrap around or are zero.

    Source: k8s.io/apimachinery v0.35.4 pkg/api/resource/quantity.go ScaledValue, math.go, scale_int.go.
    """
    exact = millis(value) or 0
    count = exact if thousandths else -(-exact // 1000)
    if -(2**63) <= count < 2**63:
        return count
    quantity = Quantity.parse(value)
    sign, digits, exponent = quantity.exact.as_tuple()
    if quantity.format is Format.BINARY_SI or len(digits) > _MOST_FAST_DIGITS or not isinstance(exponent, int):
        return _wrapped(count)
    power = exponent + 3 * thousandths
    mantissa = int("".join(map(str, digits)))
    return _wrapped((-1 if sign else 1) * mantissa * 10**power) if power in _WRAPPING_POWERS else 0


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def check_quantity(value: Any, path: Path) -> Iterator[Problem]:
    """Yield a value that no quantity can be read from."""
    if nanos(value) is None:
        yield QUANTITY.invalid(path, value, NOT_QUANTITY)


def check_quantities(resources: Any, path: Path) -> Iterator[Problem]:
    """Yield the malformed quantities of a resource list."""
    if isinstance(resources, dict):
        for name, value in resources.items():
            yield from check_quantity(value, (*path, name))
