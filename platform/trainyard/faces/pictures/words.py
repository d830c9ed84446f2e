"""Words that pictures share: numbers as people write them."""

from __future__ import annotations


def amount(value: float) -> str:
    """Return a number without decimals that say nothing.

    >>> amount(96.0), amount(0.5), amount(2496)
    ('96', '0.5', '2,496')
    """
    return f"{value:,.1f}".removesuffix(".0")


def many(count: float, noun: str) -> str:
    """Return a number of things.

    >>> many(1, "GPU"), many(1536, "GPU")
    ('1 GPU', '1,536 GPUs')
    """
    return f"{amount(count)} {noun}{'' if count == 1 else 's'}"


def step(before: float | None, after: float) -> str:
    """Return a number before and after a change, once where it stays or nobody knows what was before."""
    return amount(after) if before is None or before == after else f"{amount(before)} → {amount(after)}"
