"""Verdicts on objects and findings on them as JSON has them, without anything that a report would hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from trainyard.base.findings import Finding, ObjectRef, finding_from
from trainyard.judge.checks.result import Judged, Result, nameless


@dataclass
class Rows:
    """The verdicts on the objects of one part, and the findings on them, before any waiver counts."""

    objects: list[Judged] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def is_public(rows: Rows) -> bool:
    """Say whether nothing in these rows has to be hidden before it is shown."""
    return all(nameless(judged.object) == judged.object for judged in rows.objects) and all(
        Result().hidden(finding) == finding for finding in rows.findings
    )


def row_values(rows: Rows) -> list[Any]:
    """Return rows as JSON has them; the line of a spec is not in them, since other changes move it."""
    return [
        [
            (judged.file, judged.document, *values_of(judged.object), judged.verdict, judged.line)
            for judged in rows.objects
        ],
        [asdict(replace(finding, spec=None)) for finding in rows.findings],
    ]


def values_of(ref: ObjectRef) -> tuple[str, str, str | None, str]:
    """Return the parts of an object's name."""
    return ref.api_version, ref.kind, ref.namespace, ref.name


def rows_from(value: Sequence[Any]) -> Rows:
    """Return rows that were kept."""
    objects, findings = value
    judged = [Judged(row[0], row[1], ObjectRef(*row[2:6]), row[6], line=row[7]) for row in objects]
    return Rows(judged, [finding_from(finding) for finding in findings])
