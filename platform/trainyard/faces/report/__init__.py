"""Reports of a result: one module a format, each with `render(result, view) -> str`."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import cast

from trainyard.base.errors import TrainyardError
from trainyard.base.findings import did_you_mean
from trainyard.faces.report.legible import legible, reading
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Result

__all__ = ["FORMATS", "View", "render", "require"]

FORMATS = ("text", "json", "jsonl", "sarif", "junit", "github", "markdown")
"""The names of all formats."""

DATA = ("json", "jsonl", "sarif")
"""Formats that have escapes of their own, so that programs read every name as it is."""

PLAIN = View()


def require(format_: str) -> None:
    """Raise TrainyardError where a format does not exist; asked before the work is done."""
    if format_ not in FORMATS:
        raise TrainyardError(f"format {format_!r} does not exist; {did_you_mean(format_, FORMATS)}")


def render(result: Result, format_: str, view: View = PLAIN) -> str:
    """Return the report as text; raises TrainyardError where the format does not exist."""
    require(format_)
    name = "json_" if format_ == "json" else format_
    if format_ not in DATA:
        view = replace(reading(view, result.findings), plan=legible(view.plan))
        result = legible(result)
    return cast("str", importlib.import_module(f"{__name__}.{name}").render(result, view))
