"""Markdown as GitHub, GitLab and Gitea show it: what a bot posts on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.base.findings import Finding, Severity, arrange
from trainyard.faces.report.below import lines_below
from trainyard.faces.report.marks import code, escaped, sentence
from trainyard.faces.report.text import PLAIN, closing, notices
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Result, place

MOST = 60_000
"""Characters that are written: GitHub takes 65,536 in a comment, and a bot has words of its own."""

MARKS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def render(result: Result, view: View = PLAIN) -> str:
    """Return a headline, a table of findings, and what a plan says; what is too long is counted, not cut off."""
    parts = [f"### trainyard {view.command}: {sentence(heading(view)) or closing(result, view)}"]
    text = planned(view)
    room = MOST - sum(map(len, (parts[0], text)))
    if rows := list(table(result, view, room)):
        parts.append("\n".join(rows))
    if text:
        parts.append(text)
    if not view.quiet and (said := [line for block in notices(result, view) for line in block.splitlines()]):
        parts.append("\n".join(f"- {sentence(line)}" for line in said))
    return "\n\n".join(parts) + "\n"


def heading(view: View) -> str:
    """Return the headline of a plan, empty for other commands."""
    if view.plan is None:
        return ""
    from trainyard.change.plan.words.headline import headline

    return headline(view.plan)


def planned(view: View) -> str:
    """Return the Markdown of a plan, empty for other commands, which import no plan."""
    if view.plan is None or view.quiet:
        return ""
    from trainyard.faces.report.plan_markdown import render as words

    return words(view.plan, MOST * 2 // 3, files_at=view.files_at, everything=view.everything, pictures=view.pictures)


def table(result: Result, view: View, room: int) -> Iterator[str]:
    """Yield the lines of the table, errors first, as many as there is room for."""
    findings = sorted(arrange(result.findings), key=lambda item: not item[0].is_error)
    if not findings:
        return
    yield "| | where | what | rule |"
    yield "|---|---|---|---|"
    for number, (finding, followers) in enumerate(findings):
        line = row(finding, view, followers)
        room -= len(line) + 1
        if room < 0:
            yield f"| | | and {len(findings) - number} more | |"
            return
        yield line


def row(finding: Finding, view: View, followers: Sequence[Finding] = ()) -> str:
    """Return the line of one finding."""
    page = view.page(finding.rule)
    rule = f"[{escaped(finding.rule)}]({page})" if page else code(finding.rule)
    frozen = ", frozen" if finding.frozen else ""
    what = sentence(finding.message)
    if finding.fix:
        what += f"<br>**fix:** {sentence(finding.fix)}"
    if finding.object:
        what += f"<br>in {escaped(str(finding.object))}"
    what += "".join(f"<br>{sentence(line)}" for line in lines_below(finding, followers))
    return f"| {MARKS[finding.severity]}{frozen} | {code(str(place(finding)))} | {what} | {rule} |"
