"""JSON that is compact and still gives a readable diff: sorted keys, one line for what fits on one, no indentation.

Indentation would more than double the size of `schemas/`, whose trees are deep.
"""

from __future__ import annotations

import json
from typing import Any

WIDTH = 120
"""Characters a value may take on one line; a longer one is spread over a line for each of its entries."""


def render(value: Any) -> str:
    """Return the value as JSON text, the same on every run."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        entries = [_prefixed(json.dumps(key, ensure_ascii=False) + ":", _lines(value[key])) for key in sorted(value)]
        return _joined("{", entries, "}")
    if isinstance(value, list):
        return _joined("[", [_lines(element) for element in value], "]")
    return [json.dumps(value, ensure_ascii=False)]


def _prefixed(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *lines[1:]]


def _joined(opening: str, entries: list[list[str]], closing: str) -> list[str]:
    if all(len(entry) == 1 for entry in entries):
        line = opening + ",".join(entry[0] for entry in entries) + closing
        if len(line) <= WIDTH:
            return [line]
    lines = [opening]
    for number, entry in enumerate(entries, 1):
        lines += entry
        if number < len(entries):
            lines[-1] += ","
    return [*lines, closing]
