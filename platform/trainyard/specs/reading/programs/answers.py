"""What a program's process may answer: nothing of it is believed before its form is, here and by whoever reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ANSWER_BYTES = 16 * 2**20
MAX_JOBS = 1000
DEPTH = 64
"""Maps and lists in each other that a job may have: more than any field takes, less than ends a walk over them."""

TEXT = 4096
"""Characters of a sentence that are taken."""

NAME = 253
"""Characters of a name that are taken: as many as any object of Kubernetes may have, and more than a job."""

PRINTED = 8192
"""Characters of what a program prints that are shown."""

Answer = dict[str, Any]

OWN = "program wrote its own answer; yield jobs from jobs() instead"


def failed_answer(message: str, line: int = 1) -> Answer:
    """Return the answer for a program that made no jobs."""
    return {"problems": [{"rule": "python-error", "message": message, "line": line}]}


def parse_answer(text: bytes) -> Answer:
    """Return the answer in a text; one of another form is a program's fault, and is told as that."""
    try:
        return check_answer(json.loads(text))
    except (ValueError, RecursionError):
        return failed_answer("program ended without an answer; let jobs() return")


def check_answer(value: Any) -> Answer:
    """Return an answer with what belongs into one and nothing else."""
    if not isinstance(value, dict):
        return failed_answer(OWN)
    seen, printed, differs = value.get("seen", []), value.get("printed", ""), value.get("differs")
    rest: Answer = {"printed": printed[:PRINTED]} if isinstance(printed, str) else {}
    rest |= {"seen": [module for module in seen if isinstance(module, str)]} if isinstance(seen, list) else {}
    if isinstance(wrong := value.get("problems"), list):
        told = [problem_ for problem_ in wrong[:MAX_JOBS] if is_problem(problem_)]
        return {"problems": [problem(problem_) for problem_ in told], **rest} if told else failed_answer(OWN)
    made = value.get("jobs")
    if not isinstance(made, list) or len(made) > MAX_JOBS or not all(map(is_job, made)):
        return failed_answer(OWN)
    jobs = [{"name": job["name"], "line": job["line"], "job": job["job"]} for job in made]
    rest |= {"differs": problem(differs)} if isinstance(differs, dict) and is_problem(differs) else {}
    return {"jobs": jobs, **rest}


def is_problem(value: Any) -> bool:
    """Say whether a value is what is wrong with a program: a sentence, a line, and perhaps a rule and a field."""
    texts = isinstance(value, dict) and all(isinstance(value.get(key, ""), str) for key in ("rule", "path"))
    return texts and isinstance(value.get("message"), str) and is_line(value.get("line", 1))


def problem(value: Mapping[str, Any]) -> Answer:
    """Return the problem with a program, its texts no longer than anybody reads."""
    texts = {key: value[key][:TEXT] for key in ("rule", "message", "path") if key in value}
    return {**texts, "line": value.get("line", 1)}


def is_job(value: Any) -> bool:
    """Say whether a value is a job with its name and its line."""
    if not isinstance(value, dict) or not isinstance(value.get("job"), dict):
        return False
    name = value.get("name")
    return isinstance(name, str) and len(name) <= NAME and is_line(value.get("line")) and is_shallow(value["job"])


def is_line(value: Any) -> bool:
    """Say whether a value is the number of a line."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31


def is_shallow(value: Any) -> bool:
    """Say whether a value is no deeper than fields are; it is walked without calls, so that none is too deep."""
    level, depth = [value], 0
    while level:
        depth += 1
        level = [
            inner
            for part in level
            if isinstance(part, (dict, list))
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
        if depth > DEPTH:
            return False
    return True
