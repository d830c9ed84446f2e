"""List the releases of operators that are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from trainyard.cli._options import PLAIN, ROOT
from trainyard.cli._out import data, page

GAP = 2
"""Spaces between columns."""


def command(
    operator: str | None = typer.Argument(None, metavar="OPERATOR", help="Only this one; default: all."),
    format_: str = PLAIN,
    root: Path = ROOT,
) -> int:
    """List the releases of operators, and of what else is judged, that are known here, the newest first."""
    from trainyard.errors import TrainyardError
    from trainyard.findings import did_you_mean
    from trainyard.operators.listing import listing
    from trainyard.system.data import schemas_dir

    found = listing(schemas_dir(root))
    names = {each["name"] for each in found}
    if operator is not None and operator not in names:
        raise TrainyardError(f"operator {operator!r} does not exist here; {did_you_mean(operator, names)}")
    chosen = [each for each in found if operator in {None, each["name"]}]
    if format_ == "json":
        data(json.dumps(chosen, indent=1))
    else:
        width = max(len(each["name"]) for each in chosen) + GAP
        page("\n".join(line(each, width) for each in chosen))
    return 0


def line(project: dict[str, Any], width: int) -> str:
    """Return a project with its releases, and the Kubernetes that each is said to work on."""
    releases = "; ".join(f"{each['version']}{kubernetes(each)}" for each in project["releases"])
    return f"{project['name']:<{width}}{releases} ({project['use']})"


def kubernetes(release: dict[str, Any]) -> str:
    """Return the range of Kubernetes of a release in words."""
    oldest, newest = release["kubernetes"]["oldest"], release["kubernetes"]["newest"]
    if oldest and newest:
        return f" on Kubernetes {oldest} to {newest}"
    return f" on Kubernetes from {oldest}" if oldest else f" on Kubernetes up to {newest}" if newest else ""
