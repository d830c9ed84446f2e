"""Jobs that a program yields: run in another process without an environment, and validated like any other."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trainyard.errors import ToolError
from trainyard.findings import Finding, Location
from trainyard.specs.models.job import Job
from trainyard.specs.reading import layout, problems
from trainyard.specs.reading.layout import Place, problem
from trainyard.specs.reading.rules import RULES, VALUE
from trainyard.specs.sources import JobFile, Source
from trainyard.system import process

PACKAGES = Path(__file__).resolve().parents[3]
"""The folder that holds this package."""

START = "import sys; sys.path.insert(0, sys.argv[1]); from trainyard.specs.reading.python_child import main; main()"

SECONDS_EACH = 25
"""Longest that one program may take, with its start; the other process stops it earlier."""


def run(places: Sequence[Place], texts: Sequence[bytes]) -> tuple[list[JobFile], list[Finding]]:
    """Run programs, given by their places and texts, and return their jobs, and what is wrong with them."""
    if not places:
        return [], []
    try:
        done = ran(tuple((place.path, text) for place, text in zip(places, texts, strict=True)))
    except ToolError as error:
        return [], [problem("python-error", place.path, f"program could not be run: {error}") for place in places]
    answers = {answer["file"]: answer for answer in map(json.loads, done.out.decode().splitlines())}
    jobs: list[JobFile] = []
    findings: list[Finding] = []
    for place in places:
        answer = answers.get(place.path) or {"problems": [{"message": f"program could not be run: {done.complaint}"}]}
        findings += failures(place, answer.get("problems", ()))
        for item in answer.get("jobs", ()):
            job, wrong = validated(place, item)
            findings += wrong
            jobs += [job] if job else []
    return jobs, findings


@lru_cache(maxsize=16)
def ran(programs: tuple[tuple[str, bytes], ...]) -> process.Completed:
    """Return what the other process says of programs; a command that reads a repository twice runs them once.

    It has no environment but a fixed hash seed, no folder of the user's on its path, and is told texts, not files:
    what Python's `-I` gives, which would ignore the seed, and jobs that depend on the text alone.
    """
    told = [{"file": file, "text": text.decode("latin-1")} for file, text in programs]
    return process.run(
        [sys.executable, "-s", "-P", "-B", "-c", START, str(PACKAGES)],
        cwd=PACKAGES,
        stdin=json.dumps(told).encode(),
        env={"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
        timeout_seconds=SECONDS_EACH * len(programs),
    )


def failures(place: Place, listed: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield what the other process says is wrong with a program."""
    for each in listed:
        location = Location(place.path, each.get("line", 1), 1)
        yield RULES.get(str(each.get("rule", "python-error")), VALUE).of(location, str(each["message"]))


def validated(place: Place, item: Mapping[str, Any]) -> tuple[JobFile | None, list[Finding]]:
    """Return one job of a program, or what is wrong with its name or its fields."""
    name, source = str(item["name"]), Source(place.path, line=int(item["line"]), job=str(item["name"]))
    if wrong := misnamed(place, name):
        return None, [RULES["job-name"].of(source.location(), wrong)]
    try:
        job = Job.model_validate(item["job"], by_alias=True, by_name=False)
    except ValidationError as error:
        return None, list(problems.findings(error, Job, source, item["job"]))
    return JobFile(place.folder, name, job, source), []


def misnamed(place: Place, name: str) -> str | None:
    """Return what is wrong with the name of a program's job, which must show where it comes from."""
    if name != place.name and not name.startswith(f"{place.name}-"):
        return f"job name {name[:40]!r} should begin with {place.name + '-'!r}, the program's name"
    wrong = layout.job_name(place.path, name)
    return wrong.message if wrong else None
