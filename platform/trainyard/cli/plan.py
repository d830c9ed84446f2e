"""Say what this change starts, stops and replaces, or why it is refused."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import typer


def command(
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", help="The commit to compare with; CI has to give it."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Say in words what the change at hand does to the clusters, or why it is refused, which fails."""
    from importlib.metadata import version

    from trainyard.cli._findings import show
    from trainyard.plan import made, render

    gc.disable()  # as in a synth, which is part of it
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    plan = made(root, version("trainyard"), ref=base, automated=automated)
    show(finding for finding in plan.findings if not finding.is_error)
    sys.stdout.write(render(plan))
    return int(plan.refused)
