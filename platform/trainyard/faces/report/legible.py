"""Names and sentences as they may be printed: nothing in them steers a terminal or begins a line of its own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.faces.report.view import View

T = TypeVar("T")

CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
"""Controls of ASCII and Latin 1, what ends a line or turns its direction (Unicode Standard Annex 9), what nobody sees
(DerivedCoreProperties, Default_Ignorable_Code_Point), no characters."""

HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs, but those by which Python writes a byte of a file's name (PEP 383)."""

COMMAND = re.compile(r"(?m)^([^\S\n]*):(?=:)|#(?=#(?:\[|[a-z]+\[))")
"""What a line of a log begins with to command its reader: `::` for GitHub's runner, which leaves blanks before it out;
`##[` and `##vso[` wherever they stand for GitHub's and Azure's (actions/runner v2.329 src/Runner.Common/
ActionCommand.cs), `##teamcity[` for TeamCity's."""


def escaped(text: str, *, keep: str = "\t") -> str:
    """Return a text in which what would steer a terminal or command a log's reader is an escape, but what is kept."""
    if not (text.isascii() and text.isprintable()):
        text = CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)
    if "::" in text or "##" in text:
        text = COMMAND.sub(lambda found: found[1] + "\\x3a" if found[1] is not None else "\\x23", text)
    return text


def in_json(document: str) -> str:
    """Return a JSON document that says the same, in which only its own line ends steer or command anything."""
    text = CONTROL.sub(lambda found: found[0] if found[0] == "\n" else as_json(found[0]), document)
    return (
        text if "##" not in text else COMMAND.sub(lambda found: found[0] if found[1] is not None else "\\u0023", text)
    )


def as_json(char: str) -> str:
    """Return a character as JSON escapes it, one beyond 16 bits as two halves."""
    return json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def in_address(name: str) -> str:
    r"""Return a file's name as a part of an address, also one that no encoding has.

    >>> in_address("jobs/a \ud800.yaml")
    'jobs/a%20%5Cud800.yaml'
    """
    return quote(HALF.sub(lambda found: ascii(found[0])[1:-1], name).encode("utf-8", "surrogateescape"))


def legible(value: T) -> T:
    """Return findings, a result or a plan with every text in it escaped."""
    return cast("T", _legible(value))


def _legible(value: Any) -> Any:
    """Return a value that says the same legibly: itself where it does already, since a plan has thousands of them."""
    if type(value) is str:
        return escaped(value)
    if isinstance(value, Counter):
        return Counter({escaped(key): count for key, count in value.items()})
    if isinstance(value, (list, tuple)):
        made = [_legible(item) for item in value]
        if all(new is old for new, old in zip(made, value, strict=True)):
            return value
        return made if isinstance(value, list) else tuple(made)
    changed = {}
    for name in names(value.__class__):
        held = getattr(value, name)
        if held and (found := escaped(held) if type(held) is str else _legible(held)) is not held:
            changed[name] = found
    return replace(value, **changed) if changed else value


@cache
def names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a data class, none of another type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def reading(view: View, findings: Iterable[Finding]) -> View:
    """Return the view that finds the lines of files by their escaped names too."""
    places = (where for finding in findings for where in (finding.location, finding.spec) if where)
    odd = {name: where.file for where in places if (name := escaped(where.file)) != where.file}
    lines = view.lines
    return replace(view, lines=lambda name: lines(odd.get(name, name))) if odd else view
