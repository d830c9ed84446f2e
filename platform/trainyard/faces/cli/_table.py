"""Names, values and where these come from, as lines: whole in a pipe, as wide as the terminal where somebody reads."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

Row = tuple[str, str, str]
"""A name, its value, and what it follows from."""

MARGIN, GAP = "  ", "  "
WIDE = 48
"""Characters to which values are lined up; longer ones push what is behind them."""

MOST_LINES = 4
"""Of a value on a terminal; the rest is folded away."""

NARROWEST = 60
"""Columns below which nothing is wrapped: the columns would hold no word."""


def columns() -> int | None:
    """Return how many columns the terminal has that reads standard output, None where none does."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def lines(rows: Sequence[Row], *, within: int | None) -> Iterator[str]:
    """Yield the lines of a table; `within` is how many columns there are, where it has to keep to them."""
    names = max((len(name) for name, _, _ in rows), default=0)
    values = min(WIDE, max((len(value) for _, value, _ in rows), default=0))
    if within is None or within < NARROWEST:
        for name, value, origin in rows:
            yield f"{MARGIN}{name:<{names}}{GAP}{value:<{values}}{GAP}{origin}".rstrip()
        return
    room = within - len(MARGIN) - 2 * len(GAP)
    names = min(names, room // 3)
    values = min(values, (room - names) // 2)
    for row in rows:
        yield from wrapped(row, (names, values, room - names - values))


def wrapped(row: Row, widths: tuple[int, int, int]) -> Iterator[str]:
    """Yield the lines of a row, each of its parts within its own column."""
    name, value, origin = (
        textwrap.wrap(text, width, break_on_hyphens=False) or [""] for text, width in zip(row, widths, strict=True)
    )
    if len(value) > MOST_LINES:
        value = [*value[: MOST_LINES - 1], f"… all {len(row[1])}: -o json"[: widths[1]]]
    for number in range(max(map(len, (name, value, origin)))):
        parts = (part[number] if number < len(part) else "" for part in (name, value, origin))
        line = GAP.join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True))
        yield f"{MARGIN}{line}".rstrip()
