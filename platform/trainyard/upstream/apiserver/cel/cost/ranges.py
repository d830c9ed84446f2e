"""Ranges of sizes and costs: from the least to the most, in whole numbers of 64 bits that stop at the largest.

Source: google/cel-go v0.26.0 checker/cost.go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST = 2**64 - 1
"""What stands for a size without bound, and for any number above."""


@dataclass(frozen=True, slots=True)
class Range:
    """A size, or a cost, from `least` to `most`."""

    least: int
    most: int

    def __add__(self, other: Range) -> Range:
        """Return both together."""
        return Range(plus(self.least, other.least), plus(self.most, other.most))

    def __mul__(self, other: Range) -> Range:
        """Return one for each of the other."""
        return Range(times(self.least, other.least), times(self.most, other.most))

    def __or__(self, other: Range) -> Range:
        """Return the range that has both."""
        return Range(min(self.least, other.least), max(self.most, other.most))

    def scaled(self, factor: float) -> Range:
        """Return the range times a factor, rounded up."""
        return Range(scale_number(self.least, factor), scale_number(self.most, factor))


def exactly(number: int) -> Range:
    """Return a range of one number."""
    return Range(number, number)


ANY = Range(0, MOST)
"""The size of what nothing is known of."""


def plus(one: int, two: int) -> int:
    """Return a sum, MOST where it is larger."""
    return min(one + two, MOST)


def times(one: int, two: int) -> int:
    """Return a product, MOST where it is larger."""
    return min(one * two, MOST)


def scale_number(number: int, factor: float) -> int:
    """Return a product with a factor, rounded up as a double is; MOST where it is larger."""
    exact = float(number)
    if exact > 0 and factor > 0 and exact > float(MOST) / factor:
        return MOST
    up = math.ceil(exact * factor)
    return MOST if up >= 2**64 else up
