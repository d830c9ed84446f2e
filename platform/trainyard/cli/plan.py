"""Say what this change starts, stops and replaces, or why it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from trainyard.cli import _pictures
from trainyard.cli._findings import report, show, view_of
from trainyard.cli._options import BASE, FORMAT, PYTHON, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON
from trainyard.cli._out import ready, say
from trainyard.cli._pictures import SVG, Links
from trainyard.cli._standing import FAULTS, misshapen


def command(
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    everything: bool = typer.Option(False, "--all", help="Leave nothing out, however long it gets."),
    svg: Path | None = SVG,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Say in words what the change at hand does to the clusters, or why it is refused, which fails."""
    from trainyard import __version__
    from trainyard.checks.result import Result
    from trainyard.errors import SpecError
    from trainyard.plan import render
    from trainyard.plan.assemble import make_plan_with_sources
    from trainyard.plan.read.judged_objects import skipped
    from trainyard.report import require
    from trainyard.report.legible import legible

    require(format_)
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    if svg is not None:
        svg = _pictures.folder_for(svg, root)
    try:
        plan, known = make_plan_with_sources(root, __version__, ref=base, automated=automated)
    except FAULTS as error:
        from trainyard.specs.load import read_repository

        if why := misshapen(read_repository(root).specs):
            raise SpecError(why) from error
        raise
    left_out = skipped(root)
    drawn: Links = {}
    if svg is not None:
        found = _pictures.of_change(known, plan, everything=everything)
        drawn = _pictures.write(svg, found)
    if format_ != "text" or summary:
        view = view_of("plan", root, plan=plan, quiet=quiet, summary=summary, everything=everything, pictures=drawn)
        report(Result(findings=list(plan.findings), skipped=left_out), format_, view)
        return int(plan.refused)
    if not quiet:
        for each in left_out:
            say(f"skipped {each.rule}: {each.why}", error=True)
    show((finding for finding in plan.findings if quiet or not finding.is_error), root)
    if not quiet:
        ready(render(legible(plan), everything=everything))
        _pictures.told(drawn)
    return int(plan.refused)
