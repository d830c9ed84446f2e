"""A rule: what must hold, why it matters, what helps and where that is known from; declared beside its check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from trainyard.base.findings import Finding, Layer, Location, Path, Severity, format_path


class Placed(Protocol):
    """What knows the line of its fields, as a spec does."""

    @property
    def prefix(self) -> str:
        """What a sentence about it begins with; mostly empty."""

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where the field at a path is written, or with `key` where its key is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; findings carry its id, `trainyard rule` and docs/rules.md show the rest."""

    id: str
    """`<group>/<name>`, or an id of the catalogue such as `kq-max-quota`; waivers name it."""
    title: str
    """One sentence that holds where the rule finds nothing."""
    why: str
    """What happens otherwise."""
    fix: str
    """What to do."""
    source: str
    """The upstream file and release, or the document of ours, that the rule follows from."""
    layer: Layer = "spec"
    severity: Severity = Severity.ERROR
    may_waive: bool = False
    """Whether an error may be waived too; a warning always may."""
    may_warn: bool = False
    """Whether some findings of a rule of errors are only warnings."""
    is_about_waivers: bool = False
    """Whether it is about who may say what counts, so that a branch which waives it would judge itself."""
    hides: bool = False
    """Whether what it finds is for nobody's eyes, as a password is: no report shows the lines."""

    @property
    def waivable(self) -> bool:
        """Whether `waive: {<id>: <reason>}` may silence the rule."""
        return not self.is_about_waivers and (self.may_waive or self.warns)

    @property
    def warns(self) -> bool:
        """Whether findings of it may be warnings."""
        return self.may_warn or self.severity is Severity.WARNING

    def at(
        self,
        place: Placed,
        path: Path,
        message: str,
        *,
        key: bool = False,
        severity: Severity | None = None,
        fix: str | None = None,
        source: str | None = None,
        shared: Iterable[Path] = (),
    ) -> Finding:
        """Return a finding at a field; `fix` is the nearest change where it is more than the message says.

        `shared` are other fields of the same file of which a change would be as right.
        """
        where = place.location(path, key=key)
        found = self.of(where, place.prefix + message, severity=severity, fix=fix)
        others = tuple((format_path(other), place.location(other, key=key)) for other in shared if other != path)
        return replace(found, path=format_path(path) or None, source=source or self.source, shared=others)

    def of(self, place: Location, message: str, *, severity: Severity | None = None, fix: str | None = None) -> Finding:
        """Return a finding about a place that is no field: a file, a folder, a line of a program.

        Raises ValueError for a warning of a rule that says that it never warns: nobody could waive it.
        """
        weight = severity or self.severity
        if weight is Severity.WARNING and not (self.waivable or self.warns):
            raise ValueError(f"rule {self.id!r} never warns")
        found = Finding(self.id, self.layer, message, place, weight, fix=fix, source=self.source, remedy=self.fix)
        return replace(found, hide=True) if self.hides else found


def may_accept(rule: Rule | None, finding: Finding) -> bool:
    """Say whether a finding in a repository may be accepted; of a rule that nobody declares, its warnings may."""
    if finding.is_error:
        return rule is not None and rule.may_waive and not rule.is_about_waivers
    return rule is None or rule.waivable
