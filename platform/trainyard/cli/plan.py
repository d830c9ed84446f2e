"""Say what this change starts, stops and replaces."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer


def command(
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", help="The commit to compare with; CI has to give it."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Say in words what the tree at hand does to the clusters: what starts, stops, is replaced, is left alone."""
    from importlib.metadata import version

    from trainyard.cli._findings import show
    from trainyard.plan import judge, read, refused, render

    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    refusals = refused(root, version("trainyard"), ref=base, automated=automated)
    plan = judge(read(root, ref=base, automated=automated), refusals)
    show(plan.findings)
    sys.stdout.write(render(plan))
    return int(plan.refused)
