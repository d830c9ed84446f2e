"""Change one field of a job's file and leave the rest of the text, comments and all, as it is."""

from __future__ import annotations

import re
from typing import Any

from trainyard.base.documents import load
from trainyard.base.errors import SpecError

SCALAR = re.compile(
    r"(?P<key>[^\s#:]+[ \t]*:)(?P<value>[ \t]+[^\s#][^#\r\n]*?)?(?P<rest>[ \t]*(?:[ \t]#[^\r\n]*)?\r?\n?)"
)


def set_fields(text: str, file: str, changes: dict[str, bool | int | None]) -> str:
    """Return the text with top-level fields set, or taken away where the value is None.

    Raises SpecError where the text is written in a way that only a person can edit, such as on one line.
    """
    value = fields(text, file)
    for name, new in changes.items():
        if value.get(name) != new:
            text = set_field(text, file, name, new)
    wanted = {name: new for name, new in {**value, **changes}.items() if new is not None}
    documents, findings = load(text.encode(), file=file)
    if findings or [document.value for document in documents] != [wanted]:
        words = ", ".join(f"{name}: {_yaml(new)}" for name, new in changes.items() if new is not None)
        raise SpecError(f"{file} cannot be edited automatically; write {words}")
    return text


def set_field(text: str, file: str, name: str, new: bool | int | None) -> str:
    """Set one field on its own line; a new one comes last."""
    documents, _ = load(text.encode(), file=file)
    place = documents[0].location((name,), key=True)
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if name in documents[0].value:
        number = (place.line or 1) - 1
        match = SCALAR.fullmatch(lines[number])
        if match is not None:
            lines[number] = "" if new is None else f"{match['key']} {_yaml(new)}{match['rest']}"
        return "".join(lines)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    return "".join([*lines, f"{name}: {_yaml(new)}{end}"])


def fields(text: str, file: str) -> dict[str, Any]:
    """Return the fields of a job's file; raises SpecError where it cannot be read."""
    documents, findings = load(text.encode(), file=file)
    if findings or len(documents) != 1 or not isinstance(documents[0].value, dict):
        why = findings[0].message if findings else "it must be a single map of fields"
        raise SpecError(f"{file} cannot be edited: {why}")
    return dict(documents[0].value)


def _yaml(value: bool | int | None) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
