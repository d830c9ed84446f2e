"""The report for a terminal: one problem a paragraph, the line to edit first, a count at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from trainyard.checks.result import Change, ChangeWord, Result
from trainyard.findings import Finding, Skipped

WIDTH = max(len(word) for word in get_args(ChangeWord))
"""Of the column of words."""


def render(result: Result) -> str:
    """Return the report as text without colours; a pipe gets the same bytes as a terminal."""
    blocks = ["\n".join(paragraph(each)) for each in sorted(result.findings, key=lambda each: each.order)]
    if result.changes is not None:
        blocks.append("\n".join(changes(result.changes)))
    if result.skipped:
        blocks.append("\n".join(skipped(result.skipped)))
    if result.notes:
        blocks.append("\n".join(result.notes))
    blocks.append(closing(result))
    return "\n\n".join(blocks) + "\n"


def skipped(found: Sequence[Skipped]) -> Iterator[str]:
    """Yield a line for every reason for which rules were not asked."""
    for why in dict.fromkeys(each.why for each in found):
        yield f"skipped {', '.join(dict.fromkeys(each.rule for each in found if each.why == why))}: {why}"


def paragraph(each: Finding) -> Iterator[str]:
    """Yield the lines of one finding."""
    frozen = ", frozen" if each.frozen else ""
    yield f"{each.location}: {each.severity}: {each.message} [{each.rule}{frozen}]"
    about = [str(part) for part in (each.object, each.path) if part]
    if about:
        yield f"  in {', '.join(about)}"
    if each.spec is not None and each.spec != each.location:
        yield f"  from {each.spec}"
    if each.fix:
        yield f"  fix: {each.fix}"


def changes(found: Sequence[Change]) -> Iterator[str]:
    """Yield what becomes of each object that differs from the one before, and how many of each there are."""
    counts = Counter(each.word if each.changed else "unchanged" for each in found)
    words = [*get_args(ChangeWord), "unchanged"]
    yield f"changes: {', '.join(f'{counts[word]} {word}' for word in words if counts[word]) or 'none'}"
    for each in sorted((each for each in found if each.changed), key=lambda each: (each.file, each.document)):
        fields = ", ".join(each.fields) + (f" and {each.more} more" if each.more else "")
        yield f"  {each.word:<{WIDTH}} {each.object} ({each.file}){f': {fields}' if fields else ''}"
        if each.why:
            yield f"  {'':<{WIDTH}} {each.why}"


def closing(result: Result) -> str:
    """Return the last line: how many objects, how they were judged, how many findings."""
    counts = result.summary()
    verdicts = ", ".join(f"{counts[name]} {name}" for name in ("valid", "invalid", "unknown") if counts[name])
    found = f"{plural(counts['errors'], 'error')}, {plural(counts['warnings'], 'warning')}"
    return f"{plural(counts['objects'], 'object')}{f' ({verdicts})' if verdicts else ''}: {found}"


def plural(count: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
