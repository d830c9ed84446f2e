"""What one layer of the verdict found at one field: a place in the object, a rule, and one sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from trainyard.base import rules
from trainyard.base.findings import Layer, Severity

Path = tuple[str | int, ...]

APPLIED = "server-side apply"
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
    of_key: bool = False
    """Whether what is wrong is the field's name, so that it is told there and not at the value."""
    warns: bool = False
    """Whether something that is not at hand may make it right, so that it is a warning."""

    @property
    def only_applied(self) -> bool:
        """Whether server-side apply alone refuses it, which its message says."""
        return APPLIED in self.message


WHY: Mapping[str, str] = {
    "update": "the API server refuses the change, and Argo CD's sync fails until the field is restored",
    "webhook": "the operator refuses the object, or never starts its pods",
    "pod-security": "the API server refuses the pods, so their controller waits for ever and only reports an event",
}
"""Why a rule matters, by the first part of its id."""
REFUSED = "the API server refuses the object, and Argo CD's sync fails"
"""Why all other rules matter."""


@dataclass(frozen=True, slots=True, init=False)
class Rule(rules.Rule):
    """A family of upstream checks: builds problems in the server's own forms, under one rule id and one source."""

    def __init__(
        self,
        id_: str,
        source: str,
        *,
        title: str,
        fix: str,
        why: str = "",
        severity: Severity = Severity.ERROR,
        may_warn: bool = False,
    ) -> None:
        family = id_.partition("/")[0]
        super(Rule, self).__init__(
            id_,
            title,
            why or WHY.get(family, REFUSED),
            fix,
            source,
            layer="policy" if family == "pod-security" else cast("Layer", family),
            severity=severity,
            may_warn=may_warn,
        )

    def of_source(self, source: str) -> Rule:
        """Return the same rule for another upstream file or function."""
        return Rule(
            self.id,
            source,
            title=self.title,
            fix=self.fix,
            why=self.why,
            severity=self.severity,
            may_warn=self.may_warn,
        )

    def invalid(self, path: Path, value: Any, detail: str) -> Problem:
        """Report a value that breaks a rule."""
        return Problem(path, self.id, f"invalid value: {spell_value(value)}: {detail}", self.source)

    def required(self, path: Path, detail: str = "") -> Problem:
        """Report a field that is missing or empty."""
        return Problem(path, self.id, f"required value{': ' + detail if detail else ''}", self.source)

    def forbidden(self, path: Path, detail: str) -> Problem:
        """Report a field that may not be set here."""
        return Problem(path, self.id, f"forbidden: {detail}", self.source)

    def unsupported(self, path: Path, value: Any, supported: tuple[str, ...], *, of_key: bool = False) -> Problem:
        """Report a value outside a closed set, or with `of_key` such a name of a field, and list the set."""
        choices = ", ".join(f'"{choice}"' for choice in supported) or "there are none"
        message = f"unsupported value: {spell_value(value)}: supported values: {choices}"
        return Problem(path, self.id, message, self.source, of_key)

    def duplicate(self, path: Path, value: Any) -> Problem:
        """Report the second occurrence of a value that must be unique."""
        return Problem(path, self.id, f"duplicate value: {spell_value(value)}", self.source)

    def missing(self, path: Path, value: Any, detail: str = "") -> Problem:
        """Report a reference to something that the object does not define."""
        suffix = f": {detail}" if detail else ""
        return Problem(path, self.id, f"not found: {spell_value(value)}{suffix}", self.source)

    def too_long(self, path: Path, limit: int) -> Problem:
        """Report text above a limit in bytes."""
        return Problem(path, self.id, f"too long: may not be more than {limit} bytes", self.source)

    def too_many(self, path: Path, count: int, limit: int) -> Problem:
        """Report a list or map with more entries than allowed."""
        return Problem(path, self.id, f"too many: {count}: must have at most {limit} items", self.source)


def spell_value(value: Any, *, limit: int = 80) -> str:
    """Spell a value as JSON for a message, cut to a readable length."""
    try:
        spelled = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        spelled = str(value)
    return spelled if len(spelled) <= limit else spelled[: limit - 1] + "…"


UNDECIDED = Rule(
    UNKNOWN,
    "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go",
    title="Every CEL rule of an object can be evaluated offline.",
    fix="add the objects that the message names to the inputs, or simplify the rule",
    why="Trainyard cannot predict the API server's answer",
)
