"""What one layer of the verdict found at one field: a place in the object, a rule, and one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]

UNKNOWN = "cel/unknown"
"""The rule of a problem that says what cannot be judged."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the server would refuse an object; layer, severity and line are added by whoever knows them.

    `path` leads from the object's root to the field; `rule` is `<layer>/<topic>`; `source` names the upstream file
    and release whose rule this is.
    """

    path: Path
    rule: str
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A family of upstream checks: builds problems in the server's own forms, under one rule id and one source."""

    name: str
    source: str

    def invalid(self, path: Path, value: Any, detail: str) -> Problem:
        """Report a value that breaks a rule."""
        return Problem(path, self.name, f"invalid value: {shown(value)}: {detail}", self.source)

    def required(self, path: Path, detail: str = "") -> Problem:
        """Report a field that is missing or empty."""
        return Problem(path, self.name, f"required value{': ' + detail if detail else ''}", self.source)

    def forbidden(self, path: Path, detail: str) -> Problem:
        """Report a field that may not be set here."""
        return Problem(path, self.name, f"forbidden: {detail}", self.source)

    def unsupported(self, path: Path, value: Any, supported: tuple[str, ...]) -> Problem:
        """Report a value outside a closed set, and list the set."""
        choices = ", ".join(f'"{choice}"' for choice in supported)
        return Problem(path, self.name, f"unsupported value: {shown(value)}: supported values: {choices}", self.source)

    def duplicate(self, path: Path, value: Any) -> Problem:
        """Report the second occurrence of a value that must be unique."""
        return Problem(path, self.name, f"duplicate value: {shown(value)}", self.source)

    def missing(self, path: Path, value: Any, detail: str = "") -> Problem:
        """Report a reference to something that the object does not define."""
        suffix = f": {detail}" if detail else ""
        return Problem(path, self.name, f"not found: {shown(value)}{suffix}", self.source)

    def too_long(self, path: Path, limit: int) -> Problem:
        """Report text above a limit in bytes."""
        return Problem(path, self.name, f"too long: may not be more than {limit} bytes", self.source)

    def too_many(self, path: Path, count: int, limit: int) -> Problem:
        """Report a list or map with more entries than allowed."""
        return Problem(path, self.name, f"too many: {count}: must have at most {limit} items", self.source)


def shown(value: Any, *, limit: int = 80) -> str:
    """Spell a value as JSON for a message, cut to a readable length."""
    try:
        spelled = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        spelled = str(value)
    return spelled if len(spelled) <= limit else spelled[: limit - 1] + "…"
