"""Where the keys and values of a text end, by where they begin: for marks that underline them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from yaml._yaml import CParser

Place = tuple[int, int]
"""A line and a column, both from 1."""

FOLDED = frozenset({"|", ">"})
"""Styles of texts that end with a line."""


def spans(text: str) -> Mapping[Place, Place]:
    """Return the place behind each key, text, alias, and map or list in brackets, by the place where it begins.

    What stands behind a mistake in the syntax is left out.
    """
    found: dict[Place, Place] = {}
    opened: list[Place | None] = []
    lines = text.splitlines()
    parser: Any = CParser(text)
    try:
        while (event := parser.get_event()) is not None:
            match event:
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    opened.append(place(event.start_mark) if event.flow_style else None)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    begin = opened.pop()
                    found |= {begin: place(event.end_mark)} if begin else {}
                case yaml.ScalarEvent():
                    end = place(event.end_mark)
                    found[place(event.start_mark)] = last_line(lines, end) if event.style in FOLDED else end
                case yaml.AliasEvent():
                    found[place(event.start_mark)] = place(event.end_mark)
    except yaml.YAMLError:
        pass
    return found


def place(mark: Any) -> Place:
    """Return a place as findings count."""
    return mark.line + 1, mark.column + 1


def last_line(lines: list[str], end: Place) -> Place:
    """Return the place behind the last line of a text that ends with lines."""
    line = min(end[0] - (end[1] == 1), len(lines))
    while line > 1 and not lines[line - 1].strip():
        line -= 1
    return line, len(lines[line - 1]) + 1


def around(found: Mapping[Place, Place], at: Place) -> Place | None:
    """Return the end of the innermost span that holds a place, None where none does."""
    return max(((begin, end) for begin, end in found.items() if begin <= at < end), default=(at, None))[1]
