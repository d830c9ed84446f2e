"""Runs cdk8s programs of one's own below `platform/extra/<cluster>/`: each has `build(scope, cluster)`."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.findings import Finding, Location
from trainyard.rules import Rule
from trainyard.specs.sources import ProgramFile, Specs

PROGRAM = Rule(
    id="spec/extra-program",
    title="A cdk8s program of one's own has build(scope, cluster), and ends without an error.",
    why="objects that it does not add are missing from the tree",
    fix="mend the program at the line that is named",
    source="docs/cdk8s.md",
)


def run(root: Path, program: ProgramFile, specs: Specs) -> tuple[list[Mapping[str, Any]], list[Finding]]:
    """Run one program in a chart of its own, and return the objects that it adds, or why there are none.

    It runs in this process with all rights of whoever renders: the folder belongs to the platform's people.
    """
    from trainyard.constructs.programs import Here, built  # starts Node

    cluster = specs.clusters[program.cluster]
    team = program.folder.removeprefix("teams/") if program.folder != "platform" else None
    try:
        build = runpy.run_path(str(root / program.file)).get("build")
        if not callable(build):
            return [], [PROGRAM.of(Location(program.file, 1, 1), "program has no function build(scope, cluster)")]
        here = Here(program.cluster, cluster, team, specs.teams.get(team or ""))
        return built(build, Path(program.file).stem, here), []
    except Exception as error:  # noqa: BLE001 - whatever a program raises is its problem, not ours
        place = Location(program.file, line_of(error, str(root / program.file)), 1)
        what = " ".join(str(error).split())[:120]
        message = f"program stopped with {type(error).__name__}" + (f": {what}" if what else "")
        return [], [PROGRAM.of(place, message)]


def line_of(error: BaseException, file: str) -> int:
    """Return the last line of the program in a traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return next((line for line in reversed(lines) if line), 1)
