"""Say what this change starts, stops and replaces, or why it is refused."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import typer

from trainyard.cli._findings import report, show, view_of
from trainyard.cli._options import BASE, FORMAT, QUIET, ROOT, SUMMARY


def command(
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    root: Path = ROOT,
) -> int:
    """Say in words what the change at hand does to the clusters, or why it is refused, which fails."""
    from trainyard import __version__
    from trainyard.checks.result import Result
    from trainyard.plan import made, render
    from trainyard.plan.objects import skipped
    from trainyard.report import require
    from trainyard.report.legible import legible

    gc.disable()  # as in a synth, which is part of it
    require(format_)
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    plan = made(root, __version__, ref=base, automated=automated)
    left_out = skipped(root)
    if format_ != "text" or summary:
        view = view_of("plan", root, plan=plan, quiet=quiet, summary=summary)
        report(Result(findings=list(plan.findings), skipped=left_out), format_, view)
        return int(plan.refused)
    if not quiet:
        for each in left_out:
            print(f"skipped {each.rule}: {each.why}", file=sys.stderr)
    show((finding for finding in plan.findings if quiet or not finding.is_error), root)
    if not quiet:
        sys.stdout.write(render(legible(plan)))
    return int(plan.refused)
