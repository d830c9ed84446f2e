"""Runs cdk8s programs of one's own below `platform/extra/<cluster>/`: each has `build(scope, cluster)`."""

from __future__ import annotations

import inspect
import runpy
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.base.findings import Finding, Location
from trainyard.base.rules import Rule
from trainyard.specs.sources import ProgramFile, Specs

if TYPE_CHECKING:
    from trainyard.change.constructs.programs import Here

PROGRAM = Rule(
    id="spec/extra-program",
    title="A cdk8s program in platform/extra has build(scope, cluster), adds objects, and ends without an error.",
    why="objects that it does not add are missing in generated/",
    fix="correct the program at the line in the message",
    source="docs/cdk8s.md",
)

LONGEST = 120
"""Characters of an exception's own words that a message repeats."""


class ProgramError(Exception):
    """Why a program adds nothing, and the line that says so."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a program: the objects that it adds, the place to name for them, and what is wrong with it."""

    place: Location
    values: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()


def run(root: Path, program: ProgramFile, specs: Specs) -> Ran:
    """Run one program in a chart of its own.

    It runs in this process with all rights of whoever renders: the folder belongs to the platform's people.
    """
    from trainyard.change.constructs.programs import Here  # starts Node

    team = program.folder.removeprefix("teams/") if program.folder != "platform" else None
    here = Here(program.cluster, specs.clusters[program.cluster], team, specs.teams.get(team or ""))
    path = str(root / program.file)
    try:
        build, line = function(runpy.run_path(path))
        values = added_objects(build, line, Path(program.file).stem, here)
    except ProgramError as error:
        place, message = Location(program.file, error.line, 1), str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a program raises is its problem, not ours
        place, message = place_of(error, path, program.file), f"program stopped with {words(error)}"
    else:
        return Ran(Location(program.file, line, 1), values)
    return Ran(place, findings=[PROGRAM.of(place, message)])


def function(found: Mapping[str, Any]) -> tuple[Callable[..., object], int]:
    """Return `build` of a program's names, and its line; raises ProgramError for anything else."""
    build = found.get("build")
    if not callable(build):
        raise ProgramError("program has no function build(scope, cluster); write one")
    line = getattr(getattr(build, "__code__", None), "co_firstlineno", 1)
    signature = inspect.signature(build)
    try:
        signature.bind(None, None)
    except TypeError:
        raise ProgramError(f"build{signature} must be build(scope, cluster)", line) from None
    if inspect.iscoroutinefunction(build):
        raise ProgramError("build is async, but nothing waits for it; write def build(scope, cluster)", line)
    return build, line


def added_objects(build: Callable[..., object], line: int, name: str, here: Here) -> Sequence[Mapping[str, Any]]:
    """Return the objects that a program adds; raises ProgramError where there is none."""
    from trainyard.change.constructs.programs import build_objects

    values = build_objects(build, name, here)
    if not values:
        raise ProgramError("build adds no object to scope; add one, or remove the program", line)
    return values


def words(error: BaseException) -> str:
    """Return an exception's name and its own words, in one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    said = " ".join(text.split())
    return type(error).__name__ + (f": {said[:LONGEST]}" if said else "")


def place_of(error: BaseException, path: str, file: str) -> Location:
    """Return the last place of the program in an exception's traceback, or the one that cannot be read."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return Location(file, error.lineno or 1, error.offset or 1)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return Location(file, next((line for line in reversed(lines) if line), 1), 1)
