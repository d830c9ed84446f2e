"""Markdown as GitHub, GitLab and Gitea show it: what a bot posts on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.faces.report.text import PLAIN, closing, notices
from trainyard.faces.report.view import View, place
from trainyard.judge.checks.result import Result

MOST = 60_000
"""Characters that are written: GitHub takes 65,536 in a comment, and a bot has words of its own."""

SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~#!$&]")
"""What Markdown, tables and HTML in it read as marks."""

QUOTED = re.compile(r"(?<!`)`([^\s`|@](?:[^`|@]*[^\s`|@])?)`(?!`)")
"""What a sentence says to be code: without a pipe, which tables read otherwise than lines, and an `@`, which calls."""

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
    if not view.quiet and (said := [line for block in notices(result) for line in block.splitlines()]):
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
    findings = sorted(result.findings, key=lambda finding: (not finding.is_error, *finding.order))
    if not findings:
        return
    yield "| | where | what | rule |"
    yield "|---|---|---|---|"
    for number, finding in enumerate(findings):
        line = row(finding, view)
        room -= len(line) + 1
        if room < 0:
            yield f"| | | and {len(findings) - number} more | |"
            return
        yield line


def row(finding: Finding, view: View) -> str:
    """Return the line of one finding."""
    page = view.page(finding.rule)
    rule = f"[{escaped(finding.rule)}]({page})" if page else code(finding.rule)
    frozen = ", frozen" if finding.frozen else ""
    what = sentence(finding.message)
    if finding.fix:
        what += f"<br>**fix:** {sentence(finding.fix)}"
    if finding.object:
        what += f"<br>in {escaped(str(finding.object))}"
    return f"| {MARKS[finding.severity]}{frozen} | {code(str(place(finding)))} | {what} | {rule} |"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is; nobody is told by an `@` in it."""
    flat = " ".join(text.split())
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", flat).replace("@", "&#64;")


def sentence(text: str) -> str:
    """Return a sentence as Markdown, in which what stands between backticks is code, and all else is as it is.

    >>> sentence("job `a_b` has *two* queues")
    'job `a_b` has &#42;two&#42; queues'
    """
    parts = QUOTED.split(text)
    return "".join(code(part) if number % 2 else spaced(part) for number, part in enumerate(parts))


def spaced(text: str) -> str:
    """Return a part of a sentence that Markdown shows as it is, with a blank where it begins or ends with any."""
    before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{before}{found}{after}" if (found := escaped(text)) else before


def code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    flat = " ".join(text.split()).replace("|", "\\|")
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str) -> str:
    """Return the fence of a code block that holds the text."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
