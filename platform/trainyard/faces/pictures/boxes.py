"""Boxes that are laid out in rows, and what is drawn into one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from trainyard.faces.pictures.svg import group, squares


@dataclass(frozen=True, slots=True)
class Box:
    """Something drawn, from its own upper left corner."""

    width: float
    height: float
    parts: Sequence[str]

    def at(self, x: float, y: float) -> str:
        """Return it at a place."""
        return f'<g transform="translate({x:g} {y:g})">{"".join(self.parts)}</g>'


@dataclass
class Sheet:
    """What is drawn together: squares of one size and class become one path, outlines and words come after them."""

    behind: list[str] = field(default_factory=list)
    fills: dict[tuple[str, float], list[tuple[float, float]]] = field(default_factory=dict)
    outlines: dict[tuple[str, float], list[tuple[float, float]]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def square(self, class_: str, x: float, y: float, size: float, *, outline: str = "") -> None:
        """Add a square, and a line around it where it has one."""
        self.fills.setdefault((class_, size), []).append((x, y))
        if outline:
            self.outlines.setdefault((outline, size), []).append((x, y))

    def parts(self) -> Iterator[str]:
        """Yield everything in the order in which it covers what is below."""
        yield from self.behind
        yield from (squares(places, size, class_) for (class_, size), places in self.fills.items())
        yield from self.others
        yield from (squares(places, size, class_) for (class_, size), places in self.outlines.items())
        yield from self.words


def flow(boxes: Iterable[Box], width: float, gap: float, *, between: float | None = None) -> Box:
    """Return boxes side by side, in as many rows as it takes, each as high as its highest.

    `between` is the gap between rows, by default that between boxes.
    """
    rows = gap if between is None else between
    x = y = height = widest = 0.0
    parts = []
    for box in boxes:
        if x and x + box.width > width:
            x, y, height = 0.0, y + height + rows, 0.0
        parts.append(box.at(x, y))
        x += box.width + gap
        height, widest = max(height, box.height), max(widest, x - gap)
    return Box(widest, y + height, parts)


def stacked(boxes: Iterable[Box], gap: float) -> Box:
    """Return boxes below each other."""
    y = widest = 0.0
    parts = []
    for box in boxes:
        parts.append(box.at(0, y))
        y, widest = y + box.height + gap, max(widest, box.width)
    return Box(widest, max(0.0, y - gap), parts)


def titled(box: Box, title: str) -> Box:
    """Return a box with words that viewers show over it."""
    return Box(box.width, box.height, [group(box.parts, title=title)])
