"""Render generated/ from jobs/ and platform/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli._findings import print_output, report, show, view_of
from trainyard.faces.cli._options import BASE, FORMAT, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON
from trainyard.faces.cli._out import page, say
from trainyard.faces.report.legible import escaped

if TYPE_CHECKING:
    from trainyard.change.synth.finish import Work
    from trainyard.change.synth.session import Outcome
    from trainyard.judge.checks.result import Result

EXAMPLES = ("trainyard synth", "trainyard synth --check --base origin/main")

SHOWN = 20
"""Files that a check names, behind the diff."""


def command(
    check: bool = typer.Option(
        False, "--check", help="Write nothing; print a diff and fail if generated/ is out of date."
    ),
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    strict: bool = typer.Option(False, "--strict", help="Fail on warnings too."),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001 - its callback does it
    root: Path = ROOT,
) -> int:
    """Render generated/ from the specs; runs that exist at the base stay as they are, byte for byte."""
    from trainyard import __version__
    from trainyard.change.synth import session
    from trainyard.faces.cli._progress import progress
    from trainyard.faces.report import require

    require(format_)
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    with progress("rendering") as watch:
        outcome = session.run(root, __version__, ref=base, checking=check, automated=automated, show=watch)
    print_output(outcome.printed)
    plainly = format_ == "text" and not summary
    result = all_findings(root, outcome, base)
    if plainly:
        show(result.findings, root)
        for skipped in () if quiet else result.skipped:
            say(f"skipped {skipped.rule}: {skipped.why}", error=True)
    work = outcome.work
    failed = outcome.refused or (strict and bool(outcome.findings))
    said = ""
    if check and work is not None:
        said = compared(work, diff=plainly and not quiet)
    elif work is not None and not failed:
        said = write(work)
    elif failed and plainly:
        say("nothing was written", error=True)
    if said and plainly and not quiet:
        page(said)
    elif not plainly:
        result.notes = [said] if said else []
        report(result, format_, view_of("synth", root, quiet=quiet, summary=summary, strict=strict))
    outcome.save()
    return int(failed)


def all_findings(root: Path, outcome: Outcome, base: str | None) -> Result:
    """Return the findings of a synth: where it is refused, those of `check` too."""
    from trainyard.judge.checks.result import Result

    if not outcome.refused:
        return Result(findings=list(outcome.findings))
    from trainyard.change.plan.read.findings import of_outcome

    found = of_outcome(root, outcome, ref=base)
    return Result(findings=found.findings, skipped=[item for item in found.skipped if item.rule == "objects"])


def compared(work: Work, *, diff: bool) -> str:
    """Print how the files on disk differ, where that is wanted, and return which do."""
    for line in work.diff() if diff else ():
        say(line)
    names = [*(f"write {path}" for path in work.changes.write), *(f"remove {path}" for path in work.changes.remove)]
    if not names:
        return f"generated/ is up to date ({plural(len(work.tree.ids), 'file')})"
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    first = f"generated/ is out of date; `trainyard synth` would change {plural(len(names), 'file')}:"
    return "\n".join([first, *map(escaped, names[:SHOWN]), *more])


def write(work: Work) -> str:
    """Write what differs, with a bar where somebody watches, and return what was done."""
    from trainyard.faces.cli._progress import progress

    total = len(work.changes.write) + len(work.changes.remove) + len(work.changes.leftover)
    with progress("writing") as watch:
        for done, _ in enumerate(work.write(), 1):
            watch(done / total)
    wrote, removed = len(work.changes.write), len(work.changes.remove)
    gone = f", removed {removed}" if removed else ""
    said = f"wrote {plural(wrote, 'file')}{gone}" if total else "nothing to write"
    runs, frozen = plural(len(work.decision.fresh), "run"), len(work.decision.frozen)
    return f"{said} ({runs} rendered{f', {frozen} frozen' if frozen else ''})"


def plural(count: int, noun: str) -> str:
    """Return `1 file` or `2 files`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
