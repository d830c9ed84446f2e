"""Render generated/ from jobs/ and platform/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli._findings import report, show, told, view_of
from trainyard.cli._options import BASE, FORMAT, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON
from trainyard.cli._out import page, say
from trainyard.report.legible import escaped

if TYPE_CHECKING:
    from trainyard.synth.finish import Work


SHOWN = 20
"""Files that a check names, behind the diff."""


def command(
    check: bool = typer.Option(False, "--check", help="Write nothing; print a diff of what is stale, and fail."),
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    strict: bool = typer.Option(False, "--strict", help="Warnings fail too."),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001 - its callback does it
    root: Path = ROOT,
) -> int:
    """Render generated/; runs that exist at the base stay as they are, byte for byte."""
    from trainyard import __version__
    from trainyard.checks.result import Result
    from trainyard.cli._progress import progress
    from trainyard.report import require
    from trainyard.synth import session

    require(format_)
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    with progress("rendering") as watch:
        outcome = session.run(root, __version__, ref=base, checking=check, automated=automated, show=watch)
    told(outcome.printed)
    plainly = format_ == "text" and not summary
    if plainly:
        show(outcome.findings, root)
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
        result = Result(findings=list(outcome.findings), notes=[said] if said else [])
        report(result, format_, view_of("synth", root, quiet=quiet, summary=summary, strict=strict))
    outcome.save()
    return int(failed)


def compared(work: Work, *, diff: bool) -> str:
    """Print how the files on disk differ, where that is wanted, and return which do."""
    for line in work.diff() if diff else ():
        say(line)
    names = [*(f"writes {path}" for path in work.changes.write), *(f"removes {path}" for path in work.changes.remove)]
    if not names:
        return f"generated/ is as the specs say: {plural(len(work.tree.ids), 'file')}"
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return "\n".join([f"a synth writes or removes {plural(len(names), 'file')}:", *map(escaped, names[:SHOWN]), *more])


def write(work: Work) -> str:
    """Write what differs, with a bar where somebody watches, and return what was done."""
    from trainyard.cli._progress import progress

    total = len(work.changes.write) + len(work.changes.remove) + len(work.changes.leftover)
    with progress("writing") as watch:
        for done, _ in enumerate(work.write(), 1):
            watch(done / total)
    wrote, removed = len(work.changes.write), len(work.changes.remove)
    said = f"wrote {wrote} and removed {plural(removed, 'file')}" if total else "nothing to write"
    fresh, frozen = plural(len(work.decision.fresh), "run"), len(work.decision.frozen)
    return f"{said}; {fresh} rendered, {frozen} left as {'it is' if frozen == 1 else 'they are'} at the base"


def plural(count: int, noun: str) -> str:
    """Return `1 file` or `2 files`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
