"""Shapes made of others: one or the other, both, or one that a policy of its own holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.base.findings import Path
from trainyard.render.tenancy.shapes.base import YES, About, Breach, Shape
from trainyard.render.tenancy.shapes.values import Condition


@dataclass(frozen=True, slots=True)
class Chosen(Shape):
    """A value of one shape where a test holds, and of another where it does not; the test itself refuses nothing."""

    test: Condition
    first: Shape
    second: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look by the shape that the test chooses."""
        shape = self.first if self.test.test(value, about) else self.second
        yield from shape.breaches(value, path, subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask the one or the other."""
        first, second = self.first.cel(x, depth), self.second.cel(x, depth)
        return first if first == second else f"({self.test.cel(x)} ? {first} : {second})"


class Elsewhere(Shape):
    """A part that has a validation of its own: the check looks into it here, CEL does not."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into it."""
        yield from self.shape.breaches(value, path, subject, about)

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Leave it to its own validation."""
        return YES


@dataclass(frozen=True, slots=True)
class Both(Shape):
    """A value of two shapes."""

    one: Shape
    other: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look by both."""
        yield from self.one.breaches(value, path, subject, about)
        yield from self.other.breaches(value, path, subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask both."""
        found = [condition for condition in (self.one.cel(x, depth), self.other.cel(x, depth)) if condition != YES]
        return f"({' && '.join(found)})" if found else YES
