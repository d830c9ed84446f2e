"""Options that several commands have, so that each is said in one way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

FORMATS = "text|json|jsonl|sarif|junit|github|markdown"
"""As help shows them; `trainyard.faces.report` has the list."""


def formats(incomplete: str) -> list[str]:
    """Return the formats that begin like a word."""
    return [name for name in FORMATS.split("|") if name.startswith(incomplete)]


def upwards(root: Path) -> Path:
    """Return the folder, or where no other is named and it is no repository, the nearest one above that is."""
    from trainyard.base.system.repository import is_repository

    if root != Path() or is_repository(root):
        return root
    above = Path()
    for folder in Path.cwd().parents:
        above = above / ".."
        if is_repository(folder):
            return above
    return root


def jobs(incomplete: str) -> list[str]:
    """Return the jobs that begin like a word, as <team>/<job>."""
    from trainyard.base.system.repository import JOBS

    files = sorted((upwards(Path()) / JOBS).glob("*/*.yaml"))
    names = [f"{file.parent.name}/{file.stem}" for file in files]
    return [name for name in names if name.startswith(incomplete)]


def clusters(incomplete: str) -> list[str]:
    """Return the clusters that begin like a word."""
    from trainyard.base.system.repository import CLUSTERS

    names = sorted(file.stem for file in (upwards(Path()) / CLUSTERS).glob("*.yaml"))
    return [name for name in names if name.startswith(incomplete)]


BASE = "Compare with this commit; default: where this branch left the default branch. Required in CI."

FORMAT: Any = typer.Option(
    "text", "--format", "-o", metavar=FORMATS, autocompletion=formats, help="Format of the report."
)


def plain(chosen: str) -> str:
    """Return a format of a command that reports no findings; raises TrainyardError for any other."""
    from trainyard.base.errors import TrainyardError

    if chosen not in PLAIN_FORMATS:
        raise TrainyardError(f"format {chosen!r} does not exist; there are: {', '.join(PLAIN_FORMATS)}")
    return chosen


PLAIN_FORMATS = ("json", "text")
"""Formats of commands whose answer is more than findings."""

PLAIN: Any = typer.Option(
    "text",
    "--format",
    "-o",
    metavar="text|json",
    callback=plain,
    autocompletion=lambda incomplete: [name for name in PLAIN_FORMATS if name.startswith(incomplete)],
    help="Format of the output.",
)
QUIET: Any = typer.Option(False, "--quiet", "-q", help="Print findings only.")
SUMMARY: Any = typer.Option(False, "--summary", help="Print the number of findings per rule instead of the findings.")


def unsafe(given: bool) -> bool:
    """Let programs run without isolation in this process and those that it starts."""
    if given:
        from trainyard.base.system.trust import UNSAFE

        os.environ[UNSAFE] = "1"
    return given


def look(context: typer.Context, run: bool) -> bool:
    """Leave programs that make jobs alone in a command that only looks, but where their running is asked for."""
    from trainyard.base.system.trust import idle

    context.with_resource(idle(left=not run))
    return run


def trust(given: bool) -> bool:
    """Let all of the checkout count in this process and those that it starts."""
    if given:
        from trainyard.base.system.trust import TRUST

        os.environ[TRUST] = "1"
    return given


TRUST_CHECKOUT: Any = typer.Option(
    False,
    "--trust-checkout",
    callback=trust,
    help="Run this branch's own policies, API types and programs. Review them first.",
)
UNSAFE_PYTHON: Any = typer.Option(
    False, "--unsafe-python", callback=unsafe, help="Run Python job files without a sandbox. Review them first."
)
PYTHON: Any = typer.Option(
    False, "--python", callback=look, help="Run Python job files; without it, their runs are read from generated/."
)
ROOT: Any = typer.Option(
    Path(),
    "--root",
    metavar="FOLDER",
    callback=upwards,
    help="Folder of the repository; default: this folder or one above it.",
)
