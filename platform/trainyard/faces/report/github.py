"""Annotations of GitHub: workflow commands, which a job of Actions prints and the diff of a pull request shows.

Source: actions/toolkit packages/core/src/command.ts (escapes); GitHub docs, workflow commands for GitHub Actions.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.base.findings import Finding, arrange
from trainyard.faces.report.below import lines_below
from trainyard.faces.report.text import PLAIN, closing, notices
from trainyard.faces.report.tokens import end_of
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Result, place

DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
"""Escapes of what stands behind the second pair of colons."""

PROPERTY = {**DATA, ":": "%3A", ",": "%2C"}
"""Escapes of values in front of it."""


def render(result: Result, view: View = PLAIN) -> str:
    """Return a line for each finding, errors first, as GitHub shows ten of each a step; a notice says what was done."""
    ordered = sorted(arrange(result.findings), key=lambda item: not item[0].is_error)
    lines = [annotation(finding, view, followers) for finding, followers in ordered]
    if not view.quiet:
        said = " · ".join(line for block in notices(result, view) for line in block.splitlines())
        lines.append(f"::notice title=trainyard {view.command}::{escaped(closing(result, view), DATA)}{suffix(said)}")
    return "".join(f"{line}\n" for line in lines)


def suffix(said: str) -> str:
    """Return the notes of the annotation that follow the counts, each on its own line."""
    return f"%0A{escaped(said, DATA)}" if said else ""


def annotation(finding: Finding, view: View, followers: Sequence[Finding] = ()) -> str:
    """Return the command for one finding and what follows from it."""
    where = place(finding)
    end = end_of(where, view.lines)
    ends = {"endLine": end[0], "endColumn": end[1] if end[0] == where.line else None} if end else {}
    fields = {"file": where.file, "line": where.line, "col": where.column, **ends, "title": finding.rule}
    named = ",".join(f"{name}={escaped(str(value), PROPERTY)}" for name, value in fields.items() if value is not None)
    return f"::{finding.severity} {named}::{escaped(body(finding, view, followers), DATA)}"


def body(finding: Finding, view: View, followers: Sequence[Finding] = ()) -> str:
    """Return the text of an annotation: message, object, fix and link."""
    about = ", ".join(str(part) for part in (finding.object, finding.path) if part)
    lines = [finding.message, f"in {about}" if about else "", f"fix: {finding.fix or finding.remedy or ''}"]
    if place(finding) is not finding.location:
        lines.append(f"seen at {finding.location}")
    lines += lines_below(finding, followers)
    lines.append(view.page(finding.rule) or "")
    return "\n".join(line for line in lines if line and line != "fix: ")


def escaped(text: str, table: dict[str, str]) -> str:
    """Return a text as the runner reads it back."""
    return "".join(table.get(char, char) for char in text)
