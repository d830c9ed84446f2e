"""Show which runs this change starts, stops and replaces, or why it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from trainyard.faces.cli import _pictures
from trainyard.faces.cli._findings import report, show, view_of
from trainyard.faces.cli._options import BASE, FORMAT, PYTHON, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON
from trainyard.faces.cli._out import ready, say
from trainyard.faces.cli._pictures import SVG, Links
from trainyard.faces.cli._unrun_programs import FAULTS, extra_error

EXAMPLES = ("trainyard plan", "trainyard plan --base origin/main --format markdown")


def command(
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    everything: bool = typer.Option(False, "--all", help="Print everything, however long."),
    svg: Path | None = SVG,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Show what the current change does to the clusters; fail if it cannot be merged."""
    from trainyard import __version__
    from trainyard.base.errors import SpecError
    from trainyard.base.findings import arrange
    from trainyard.change.plan import render
    from trainyard.change.plan.assemble import make_plan_with_sources
    from trainyard.change.plan.read.judged_objects import skipped
    from trainyard.faces.cli._progress import progress
    from trainyard.faces.report import require
    from trainyard.faces.report.legible import legible
    from trainyard.judge.checks.result import Result

    require(format_)
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    if svg is not None:
        svg = _pictures.folder_for(svg, root)
    try:
        with progress(quiet=quiet):
            plan, known = make_plan_with_sources(root, __version__, ref=base, automated=automated)
    except FAULTS as error:
        from trainyard.specs.load import read_repository

        if why := extra_error(read_repository(root).specs):
            raise SpecError(why) from error
        raise
    left_out = [*skipped(root), *plan.skipped]
    drawn: Links = {}
    if svg is not None:
        found = _pictures.of_change(known, plan, everything=everything)
        drawn = _pictures.write(svg, found)
    if format_ != "text" or summary:
        view = view_of("plan", root, plan=plan, quiet=quiet, summary=summary, everything=everything, pictures=drawn)
        report(Result(findings=list(plan.findings), skipped=left_out), format_, view)
        return int(plan.refused)
    if not quiet:
        for skipped_check in left_out:
            say(f"skipped {skipped_check.rule}: {skipped_check.why}", error=True)
    shown = [some for some in arrange(plan.findings) if quiet or not some[0].is_error]
    show((finding for cause, followers in shown for finding in (cause, *followers)), root)
    if not quiet:
        ready(render(legible(plan), everything=everything))
        _pictures.print_paths(drawn)
    return int(plan.refused)
