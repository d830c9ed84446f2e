"""Jobs that a program yields: run in other processes without surroundings, and validated like any other."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding, Location
from trainyard.base.system import process
from trainyard.base.system.trust import unsafe
from trainyard.specs.models.job import Job
from trainyard.specs.reading import document, layout, problems
from trainyard.specs.reading.layout import Place, problem
from trainyard.specs.reading.programs import twice
from trainyard.specs.reading.programs.answers import check_answer, failed_answer, parse_answer
from trainyard.specs.reading.programs.kernel import RefusedError
from trainyard.specs.reading.rules import RULES, VALUE
from trainyard.specs.sources import JobFile, Printed, Source

PACKAGES = Path(__file__).resolve().parents[3]
"""The folder that holds this package."""

START = "import sys; sys.path.insert(0, sys.argv[1]); from trainyard.specs.reading.programs.child import main; main()"

SECONDS = 720
"""Longest that the other process may take: it begins no program after ten minutes, and each run ends after 20 s."""

SEEDS = {"first": "0", "other": "1"}
"""Seeds of hashes, by what a process is asked for: the first answer counts, the other is held against it."""


def run(places: Sequence[Place], texts: Sequence[bytes]) -> tuple[list[JobFile], list[Finding], list[Printed]]:
    """Run programs, given by places and texts, and return their jobs, what is wrong with them, and what they print."""
    if not places:
        return [], [], []
    try:
        answers = ran(tuple((place.path, text) for place, text in zip(places, texts, strict=True)), unsafe=unsafe())
    except RefusedError as error:
        return [], [problem("python-isolated", place.path, str(error)) for place in places], []
    except ToolError as error:
        if isinstance(error.__cause__, OSError):  # which no program is to blame for
            raise
        return [], [problem("python-error", place.path, f"program could not be run: {error}") for place in places], []
    jobs: list[JobFile] = []
    findings: list[Finding] = []
    printed: list[Printed] = []
    for place, first, other in zip(places, *answers, strict=True):
        findings += failures(place, first.get("problems", ()))
        differs = first.get("differs") or twice.difference(first, other["hashed"], "order")
        if differs := differs or twice.difference(first, other["other"]):
            where = Location(place.path, differs["line"], 1)
            path = show_text(differs["path"]) if differs.get("path") else None
            findings.append(replace(RULES["python-same"].of(where, show_text(differs["message"])), path=path))
        if not first.get("jobs") and not first.get("problems"):
            findings.append(
                problem("python-empty", place.path, "program yields no job; let it yield some, or delete it")
            )
        for item in first.get("jobs", ()):
            job, wrong = validate_job(place, item)
            findings += wrong
            jobs += [job] if job else []
        printed += [Printed(place.path, show_text(first["printed"]))] if first.get("printed") else []
    return jobs, findings, printed


@lru_cache(maxsize=16)
def ran(
    programs: tuple[tuple[str, bytes], ...], *, unsafe: bool
) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """Return two other processes' answers about programs, in order; asked once for a repository that is read twice."""
    with ThreadPoolExecutor(len(SEEDS)) as threads:
        first, other = threads.map(lambda asked: ask_process(programs, asked, unsafe=unsafe), SEEDS)
    firsts = [parse_answer(answer) for answer in first]
    others = [value if isinstance(value := decode_line(answer), dict) else {} for answer in other]
    return firsts, [{key: check_answer(one_other.get(key)) for key in ("hashed", "other")} for one_other in others]


def decode_line(text: bytes) -> Any:
    """Return the value of a line of JSON, None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def ask_process(programs: Sequence[tuple[str, bytes]], asked: str, *, unsafe: bool) -> Sequence[bytes]:
    """Return the answers of another process about programs, a line each.

    It has no environment but a fixed hash seed, no folder of the user's on its path, and is told texts, not files:
    what Python's `-I` gives, which would ignore the seed, and jobs that depend on the text alone. It ends with this
    process, however that ends. Raises RefusedError where programs cannot be isolated.
    """
    texts = [{"file": file, "text": text.decode("latin-1")} for file, text in programs]
    parent = [str(os.getpid())]
    done = process.run(
        [
            sys.executable,
            "-s",
            "-P",
            "-B",
            "-c",
            START,
            str(PACKAGES),
            asked,
            "unsafe" if unsafe else "isolated",
            *parent,
        ],
        cwd=PACKAGES,
        stdin=json.dumps(texts).encode(),
        env={"PYTHONHASHSEED": SEEDS[asked], "PYTHONUTF8": "1"},
        timeout_seconds=SECONDS,
    )
    lines = done.out.splitlines()
    if len(lines) == 1 and isinstance(value := decode_line(lines[0]), dict) and "refused" in value:
        raise RefusedError(value["refused"])
    none = failed_answer(f"program could not be run: {done.complaint}")
    lacking = json.dumps(none if asked == "first" else {"hashed": none, "other": none}).encode()
    found = {place: answer for place, answer in map(number_answer, lines) if place is not None}
    return [found.get(place, lacking) for place in range(len(programs))]


def number_answer(line: bytes) -> tuple[int | None, bytes]:
    """Return the place of a program and its answer, as a line of the other process has them."""
    place, comma, answer = line.partition(b", ")
    known = bool(comma) and place[:1] == b"[" and place[1:].isdigit() and answer.endswith(b"]")
    return (int(place[1:]), answer[:-1]) if known else (None, b"")


def failures(place: Place, listed: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield the findings of the other process on a program."""
    for failure in listed:
        location = Location(place.path, failure.get("line", 1), 1)
        yield RULES.get(str(failure.get("rule", "python-error")), VALUE).of(
            location, show_text(str(failure["message"]))
        )


def show_text(text: str) -> str:
    """Return a text of a program's as it can be written, with ? for each half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def encodable(value: Any) -> bool:
    """Say whether all texts in a value can be written as UTF-8, which has no halves of surrogate pairs."""
    return show_text(text := json.dumps(value, ensure_ascii=False)) == text


def validate_job(place: Place, item: Mapping[str, Any]) -> tuple[JobFile | None, list[Finding]]:
    """Return one job of a program, or what is wrong with its name or its fields."""
    name, source = str(item["name"]), Source(place.path, line=int(item["line"]), job=str(item["name"]))
    if not encodable([name, item["job"]]):
        message = f"job {name!r} contains half a surrogate pair, which is not valid text; correct it"
        return None, [RULES["python-error"].of(source.location(), message)]
    if path := document.too_deep(item["job"]):
        return None, [RULES["depth"].at(source, path, document.DEEP)]
    if wrong := misnamed_problem(place, name):
        return None, [RULES["job-name"].of(source.location(), wrong)]
    try:
        job = Job.model_validate(item["job"], by_alias=True, by_name=False)
    except ValidationError as error:
        return None, list(problems.findings(error, Job, source, item["job"]))
    return JobFile(place.folder, name, job, source), []


def may_make(place: Place, team: str, job: str) -> bool:
    """Say whether a job's name is one that a program may give."""
    return team == place.folder and (job == place.name or job.startswith(f"{place.name}-"))


def misnamed_problem(place: Place, name: str) -> str | None:
    """Return the problem with the name of a program's job, which must show where it comes from."""
    if name != place.name and not name.startswith(f"{place.name}-"):
        return f"job name {name[:40]!r} must begin with {place.name + '-'!r}, the program's name"
    wrong = layout.job_name(place.path, name)
    return wrong.message if wrong else None
