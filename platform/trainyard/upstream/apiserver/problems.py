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


TITLES: Mapping[str, str] = {
    "schema": "An object has the form that its kind's schema describes",
    "meta": "An object's metadata is as Kubernetes wants it",
    "core": "An object passes the checks of Kubernetes' own code",
    "cel": "An object passes the rules in CEL of its kind's definition",
    "update": "An update leaves alone what may not change",
    "webhook": "An object passes what its operator's webhook asks",
    "pod-security": "A pod keeps to the Pod Security level of its namespace",
}
"""What a family of checks asks, by the first part of its id."""

WHY: Mapping[str, str] = {
    "schema": "the API server refuses the object, or drops the field in silence, and Argo CD's sync fails",
    "update": "the API server refuses the change, and Argo CD's sync fails for as long as it stands in Git",
    "webhook": "the operator's webhook refuses the object, or its controller never gets to run it",
    "pod-security": "the API server refuses the pods, so that what makes them waits for ever with an event",
}
REFUSED = "the API server refuses the object, and Argo CD's sync fails"
FIX = "write the field as the message says; the source is the file upstream that asks for it"


@dataclass(frozen=True, slots=True, init=False)
class Rule(rules.Rule):
    """A family of upstream checks: builds problems in the server's own forms, under one rule id and one source.

    Where it says nothing else, its title follows from the id, `<layer>/<topic>`.
    """

    def __init__(
        self,
        id_: str,
        source: str,
        *,
        title: str = "",
        severity: Severity = Severity.ERROR,
        may_warn: bool = False,
    ) -> None:
        family, _, topic = id_.partition("/")
        super(Rule, self).__init__(
            id_,
            title or f"{TITLES[family]}: {topic.replace('-', ' ')}.",
            WHY.get(family, REFUSED),
            FIX,
            source,
            layer="policy" if family == "pod-security" else cast("Layer", family),
            severity=severity,
            may_warn=may_warn,
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
    title="Every rule that is asked of an object can be decided from what is at hand.",
)
