"""Reports of a result: one module a format, each with `render(result) -> str`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from trainyard.checks.result import Result
from trainyard.errors import TrainyardError
from trainyard.findings import did_you_mean


def formats() -> list[str]:
    """Return the names of all formats."""
    return sorted(module.name.removesuffix("_") for module in pkgutil.iter_modules(__path__))


def require(format_: str) -> None:
    """Raise TrainyardError where a format does not exist; asked before the work is done."""
    if format_ not in formats():
        raise TrainyardError(f"format {format_!r} does not exist; {did_you_mean(format_, formats())}")


def render(result: Result, format_: str) -> str:
    """Return the report as text; raises TrainyardError where the format does not exist."""
    require(format_)
    name = "json_" if format_ == "json" else format_
    return cast("str", importlib.import_module(f"{__name__}.{name}").render(result))
