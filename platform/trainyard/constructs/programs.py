"""cdk8s programs of one's own below `platform/extra/<cluster>/`: each has `build(scope, cluster)`."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cdk8s
from constructs import Construct

from trainyard.findings import Finding, Location
from trainyard.rules import Rule
from trainyard.specs import Cluster, Team
from trainyard.specs.sources import ProgramFile

PROGRAM = Rule(
    id="spec/extra-program",
    title="A cdk8s program of one's own has build(scope, cluster), and ends without an error.",
    why="objects that it does not add are missing from the tree",
    fix="mend the program at the line that is named",
    source="docs/cdk8s.md",
)


@dataclass(frozen=True, slots=True)
class Here:
    """The cluster that a program adds objects to, as its second argument."""

    name: str
    spec: Cluster
    """What the cluster's file says."""
    team_name: str | None = None
    """The team, for a program below `teams/`."""
    team: Team | None = None


class Added(cdk8s.Chart):
    """What programs add to one folder; names are what they say, without a hash."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_, disable_resource_name_hashes=True)


def run(root: Path, program: ProgramFile, here: Here) -> tuple[list[Mapping[str, Any]], list[Finding]]:
    """Run one program in a chart of its own, and return the objects that it adds, or why there are none.

    It runs in this process with all rights of whoever renders: the folder belongs to the platform's people.
    """
    chart = Added(cdk8s.App(), Path(program.file).stem)
    try:
        scope = runpy.run_path(str(root / program.file))
        build = scope.get("build")
        if not callable(build):
            return [], [PROGRAM.of(Location(program.file, 1, 1), "program has no function build(scope, cluster)")]
        build(chart, here)
        return list(objects(chart)), []
    except Exception as error:  # noqa: BLE001 - whatever a program raises is its problem, not ours
        place = Location(program.file, line_of(error, str(root / program.file)), 1)
        what = " ".join(str(error).split())[:120]
        message = f"program stopped with {type(error).__name__}" + (f": {what}" if what else "")
        return [], [PROGRAM.of(place, message)]


def objects(chart: cdk8s.Chart) -> Iterator[Mapping[str, Any]]:
    """Yield what a chart holds."""
    yield from chart.to_json()


def line_of(error: BaseException, file: str) -> int:
    """Return the last line of the program in a traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return next((line for line in reversed(lines) if line), 1)
