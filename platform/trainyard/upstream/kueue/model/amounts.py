"""Amounts as Kueue counts them: CPUs in thousandths, everything else in units, within 64 bits.

The largest amount stands for unlimited, and stays so in sums (kueue v0.19.2 pkg/resources/amount.go, requests.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from trainyard.base.quantities import Format, Quantity
from trainyard.upstream.pods.resources import CPU, in_bytes

Amounts = Mapping[str, int]
"""Amounts by resource."""

UNLIMITED = 2**63 - 1
LOWEST = -(2**63)
SAFE = 2**62
"""Amounts below it, and above its negative, have a sum within 64 bits."""


def clamp_amount(value: int) -> int:
    """Return the nearest amount of 64 bits."""
    return max(LOWEST, min(value, UNLIMITED))


def plus(left: int, right: int) -> int:
    """Add; what is unlimited stays so."""
    if -SAFE < left < SAFE and -SAFE < right < SAFE:
        return left + right
    if left == UNLIMITED or right == UNLIMITED:
        return UNLIMITED
    return max(LOWEST, min(left + right, UNLIMITED))


def minus(left: int, right: int) -> int:
    """Subtract; of an unlimited amount unlimited is left, and nothing of it when as much is taken."""
    if -SAFE < left < SAFE and -SAFE < right < SAFE:
        return left - right
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return LOWEST if right == UNLIMITED else max(LOWEST, min(left - right, UNLIMITED))


@lru_cache(maxsize=4096)
def requested_amount(resource: str, text: str | float) -> int:
    """Return a requested quantity as an amount, rounded up; raises ValueError for what is no quantity."""
    quantity = Quantity.parse(text)
    return clamp_amount(quantity.milli_value() if resource == CPU else quantity.value())


@lru_cache(maxsize=4096)
def quota(resource: str, text: str | float) -> int:
    """Return a quantity of quota as an amount: what 64 bits cannot hold is unlimited. Raises ValueError."""
    quantity = Quantity.parse(text)
    if quantity.amount >= (UNLIMITED // 1000 if resource == CPU else UNLIMITED):
        return UNLIMITED
    return clamp_amount(quantity.milli_value() if resource == CPU else quantity.value())


@lru_cache(maxsize=4096)
def text_of(resource: str, amount: int) -> str:
    """Write an amount as Kueue does in statuses and messages (pkg/resources/resource_formatter.go)."""
    if resource == CPU:
        return Quantity(Decimal(amount).scaleb(-3)).canonical()
    binary = in_bytes(resource)
    written = Quantity(Decimal(amount), Format.BINARY_SI if binary else Format.DECIMAL_SI).canonical()
    return Quantity.parse(written).canonical() if binary else written


def quota_text(resource: str, amount: int) -> str:
    """Write an amount of quota as Kueue does in messages."""
    return "<unlimited>" if amount == UNLIMITED else text_of(resource, amount)


@lru_cache(maxsize=4096)
def rank(resource: str) -> tuple[int, str]:
    """Return Kueue's sort key of a resource: the 64-bit FNV-1a hash of its name (slice_requests.go)."""
    hashed = 0xCBF29CE484222325
    for byte in resource.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hashed, resource
