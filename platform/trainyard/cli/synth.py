"""Render generated/ from jobs/ and platform/."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from trainyard.synth.finish import Work


def command(
    check: bool = typer.Option(False, "--check", help="Write nothing; print a diff of what is stale, and fail."),
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", help="The commit to compare with; CI has to give it."),
    strict: bool = typer.Option(False, "--strict", help="Warnings fail too."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Render generated/; runs that exist at the base stay as they are, byte for byte."""
    from importlib.metadata import version

    from trainyard.cli import _findings
    from trainyard.cli._progress import progress
    from trainyard.synth import session

    gc.disable()  # a process of seconds with half a million small values: collecting takes a fifth and frees nothing
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    with progress("rendering") as show:
        outcome = session.run(root, version("trainyard"), ref=base, checking=check, automated=automated, show=show)
    _findings.told(outcome.printed)
    _findings.show(outcome.findings)
    work = outcome.work
    if check and work is not None:
        for line in work.diff():
            print(line)
    failed = outcome.refused or (strict and bool(outcome.findings))
    if work is not None and not check and not failed:
        write(work)
    elif failed and not check:
        print("nothing was written", file=sys.stderr)
    outcome.save()
    return int(failed)


def write(work: Work) -> None:
    """Write what differs, with a bar where somebody watches, and say what was done."""
    from trainyard.cli._progress import progress

    total = len(work.changes.write) + len(work.changes.remove) + len(work.changes.leftover)
    with progress("writing") as show:
        for done, _ in enumerate(work.write(), 1):
            show(done / total)
    wrote, removed = len(work.changes.write), len(work.changes.remove)
    said = f"wrote {wrote} and removed {removed} files" if total else "nothing to write"
    print(f"{said}; {len(work.decision.fresh)} runs rendered, {len(work.decision.frozen)} left as they are at the base")
