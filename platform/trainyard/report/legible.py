"""Names and sentences as they may be printed: nothing in them steers a terminal or begins a line of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from trainyard.findings import Finding
    from trainyard.report.view import View

T = TypeVar("T")

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Controls of ASCII and Latin 1, what ends a line or turns its direction (Unicode Standard Annex 9), no characters."""


def escaped(text: str, *, keep: str = "\t") -> str:
    """Return a text in which what would steer a terminal is written as an escape, but characters to keep."""
    if text.isprintable() and text.isascii():
        return text
    return CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def in_json(document: str) -> str:
    """Return a JSON document that says the same, in which only its own line ends are control characters."""
    return CONTROL.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", document)


def legible(value: T) -> T:
    """Return findings, a result or a plan with every text in it escaped."""
    return cast("T", _legible(value))


def _legible(value: Any) -> Any:
    if type(value) is str:
        return escaped(value)
    if isinstance(value, Counter):
        return Counter({escaped(key): count for key, count in value.items()})
    if isinstance(value, (list, tuple)):
        made = [_legible(each) for each in value]
        return made if isinstance(value, list) else tuple(made)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {each.name: getattr(value, each.name) for each in fields(value)}
    changed = {name: found for name, each in held.items() if (found := _legible(each)) != each}
    return replace(value, **changed) if changed else value


def reading(view: View, findings: Iterable[Finding]) -> View:
    """Return the view that finds the lines of files by their escaped names too."""
    places = (where for each in findings for where in (each.location, each.spec) if where)
    odd = {name: where.file for where in places if (name := escaped(where.file)) != where.file}
    lines = view.lines
    return replace(view, lines=lambda name: lines(odd.get(name, name))) if odd else view
