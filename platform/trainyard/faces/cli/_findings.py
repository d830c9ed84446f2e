"""Findings for whoever called: on standard error as text, or as the report of the format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from trainyard.faces.cli._out import ready, say

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.faces.report import View
    from trainyard.judge.checks.result import Result
    from trainyard.specs.sources import Printed


def show(findings: Iterable[Finding], root: Path = Path()) -> None:
    """Print findings on standard error, a paragraph each."""
    from trainyard.base.findings import arrange
    from trainyard.faces.cli._pages import pages
    from trainyard.faces.report.legible import legible, reading
    from trainyard.faces.report.text import paragraph
    from trainyard.faces.report.view import View, hidden

    found = list(findings)
    view = View(colour=coloured(sys.stderr), lines=reader(root), pages=pages(root))
    view, found = reading(view, found), legible(found)
    secret = hidden(found)
    for finding, followers in arrange(found):
        ready("\n".join([*paragraph(finding, view, secret, followers), ""]), error=True)


def print_output(printed: Iterable[Printed]) -> None:
    """Print what programs that make jobs print, each line behind its file, without the keys that it may show."""
    from trainyard.base.credentials import hides

    for item in printed:
        for line in hides(item.text).splitlines():
            say(f"{item.file}: {line}", error=True)


def report(result: Result, format_: str, view: View) -> None:
    """Print a report on standard output."""
    from trainyard.faces.report import render

    ready(render(result, format_, view if format_ == "text" else replace(view, colour=False)))


def view_of(command: str, root: Path, **more: Any) -> View:
    """Return how a report is shown here: with colours where somebody watches."""
    from trainyard.faces.cli._pages import files_at, pages
    from trainyard.faces.report import View

    at = files_at()
    return View(command, colour=coloured(sys.stdout), lines=reader(root), pages=pages(root), files_at=at, **more)


def coloured(stream: TextIO) -> bool:
    """Say whether a stream takes colours: a terminal, unless the environment says otherwise (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name) not in {None, "", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb" and os.environ.get("CLICOLOR") != "0"


def reader(root: Path) -> Any:
    """Return the function that reads the lines of a file that a finding names."""
    from trainyard.base.system import files

    @cache
    def lines(name: str) -> Sequence[str]:
        for path in (root / name, Path(name)):
            if path.is_file() and (data := files.read(path)) is not None:
                return data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return ()

    return lines
