"""The report for a terminal: one problem a paragraph, the line to edit first, a count at the end."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.checks.result import Result
from trainyard.findings import Finding


def render(result: Result) -> str:
    """Return the report as text without colours; a pipe gets the same bytes as a terminal."""
    blocks = ["\n".join(paragraph(each)) for each in sorted(result.findings, key=lambda each: each.order)]
    if result.skipped:
        blocks.append("\n".join(f"skipped {each.rule}: {each.why}" for each in result.skipped))
    if result.notes:
        blocks.append("\n".join(result.notes))
    blocks.append(closing(result))
    return "\n\n".join(blocks) + "\n"


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


def closing(result: Result) -> str:
    """Return the last line: how many objects, how they were judged, how many findings."""
    counts = result.summary()
    verdicts = ", ".join(f"{counts[name]} {name}" for name in ("valid", "invalid", "unknown") if counts[name])
    found = f"{plural(counts['errors'], 'error')}, {plural(counts['warnings'], 'warning')}"
    return f"{plural(counts['objects'], 'object')}{f' ({verdicts})' if verdicts else ''}: {found}"


def plural(count: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
