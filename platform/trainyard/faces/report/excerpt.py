"""The line that a finding is about, with a mark below what it means, as it looks on a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from trainyard.base.credentials import hides
from trainyard.base.findings import Location
from trainyard.base.limits import EXCERPT_LETTERS
from trainyard.faces.report.legible import COMMAND, CONTROL
from trainyard.faces.report.tokens import end_of
from trainyard.faces.report.view import Lines

WIDTH = 100
"""Columns of a line that are shown."""

BEFORE = 60
"""Columns in front of the mark that stay where a line is longer than that."""

TAB = "    "

CLOSED = re.compile(r"""kind["']?\s*:\s*["']?Secret\b|PRIVATE KEY|LS0tLS1CRUdJTi""")
"""What a file has that holds credentials over several lines; the last is the beginning of a key in base64."""


def excerpt(where: Location, lines: Lines, *, broken: bool = False) -> Iterator[tuple[str, str]]:
    """Yield a margin and what stands behind it: the line, and the mark below.

    Nothing where the line is not known, and where it holds what looks like a credential, whatever the finding is about.
    `broken` says that the file could not be read: then any line may be one of a Secret or of a key in it.
    """
    text = line_of(where, lines)
    if text is None or where.column is None or len(text) > EXCERPT_LETTERS or hides(text) != text:
        return
    if broken and CLOSED.search("\n".join(lines(where.file))):
        return
    at = min(where.column - 1, len(text))
    end = end_of(where, lines)
    word = (text[at:] if end[0] != where.line else text[at : end[1] - 1]).rstrip() if end else ""
    start = columns(text[:at])
    cut = max(0, start - BEFORE) if columns(text) > WIDTH else 0
    yield f"{where.line:>6} | ", window(visible(text), cut).rstrip()
    yield f"{'':>6} | ", " " * (start - cut) + "^" * max(1, min(columns(word), WIDTH - (start - cut)))


def line_of(where: Location, lines: Lines) -> str | None:
    """Return the text of a line, None where it is empty or not known."""
    found = lines(where.file) if where.line else ()
    text = found[where.line - 1] if where.line and where.line <= len(found) else ""
    return text if text.strip() else None


def visible(text: str) -> str:
    """Return a line as it may be printed: tabs as blanks, what steers a terminal as a replacement character."""
    return COMMAND.sub("\ufffd", CONTROL.sub("\ufffd", text.replace("\t", TAB)))


def window(text: str, start: int) -> str:
    """Return the columns of a text from one on, as many as are shown, with dots where something is left out."""
    out, column = "", 0
    for char in text:
        if start <= column < start + WIDTH:
            out += char
        column += width(char)
    out = f"…{out[1:]}" if start and out else out
    return f"{out[:-1]}…" if column > start + WIDTH else out


def columns(text: str) -> int:
    """Return how wide a text is on a terminal."""
    return sum(map(width, visible(text)))


def width(char: str) -> int:
    """Return how wide a character is on a terminal (Unicode Standard Annex 11)."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
