"""Numbers that YAML reads otherwise than people do: `010` is eight, `0x1F` thirty-one, `1e-400` nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Document, Path
from trainyard.base.findings import Finding
from trainyard.specs.reading.rules import RULES

ODD = re.compile(r"(?<![0-9A-Za-z_])[+-]?0(?:[0-9]|[xX][0-9a-fA-F]|[oO][0-7]|[bB][01])[0-9a-fA-F_]*(?=[\s,\]}]|$)")
"""A plain number with a leading zero or of another base, as go.yaml.in/yaml/v2 2.4 resolve.go reads it."""

LITTLE = re.compile(
    r"(?<![0-9A-Za-z_.])[+-]?(?:[0-9.][0-9._]*[eE]-[0-9_]{3,}|[0_]*\.[0_]{300}[0-9_]*(?:[eE][+-]?[0-9_]+)?)(?=[\s,\]}]|$)"
)
"""A plain number that may be below 5e-324, the least float, and is then read as zero, as Go's ParseFloat does."""

NOT_ZERO = re.compile(r"[-+0._]*[1-9]")
"""How a number begins that is not zero, whatever its power."""

LONGEST = 40
"""Characters of a number that a message shows."""


def check(document: Document) -> Iterator[Finding]:
    """Yield numbers in another base than ten and numbers that become zero, each with what it is read as."""
    text = (document.text or b"").decode("utf-8", "replace")
    if ODD.search(text) is None and LITTLE.search(text) is None:
        return
    lines = text.split("\n")
    for path, value in numbers(document.value, ()):
        place = document.location(path)
        line = (place.line or 0) - document.first_line
        if place.column is None or not 0 <= line < len(lines):  # YAML ends lines where nobody else does
            continue
        written = ODD.match(lines[line], place.column - 1) or little(lines[line], place.column - 1, value)
        if written is not None:
            message = f"{written[0][:LONGEST]} is read as {value}; write {value}, or quote it"
            yield RULES["number"].of(place, message)


def little(line: str, start: int, value: int) -> re.Match[str] | None:
    """Return a number that is not zero as it is written, and is read as zero."""
    found = LITTLE.match(line, start) if value == 0 else None
    return found if found is not None and NOT_ZERO.match(found[0]) else None


def numbers(value: Any, path: Path) -> Iterator[tuple[Path, int]]:
    """Yield every whole number in a value, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from numbers(item, (*path, index))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, value
