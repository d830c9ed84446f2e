"""Problems as sentences: a problem has the API server's own form, and people read which field is wrong, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from trainyard.base.findings import format_path
from trainyard.upstream.apiserver.problems import Path, Problem, spell_value

LONGEST_NAME = 4
"""Steps of a path that still read as one field; of longer ones the last three are shown."""
LONGEST_VALUE = 60
"""Characters of a value that a sentence has room for."""

MODAL = re.compile(r"(?:must|should|may|cannot|can|could)\b")
"""How a detail begins that continues with what the field has to be."""
VERB = re.compile(r"(?:is|was|has|needs|requires|exceeds|becomes|does|yields)\b")
"""How a detail begins that continues with what the field is."""
PART = re.compile(
    r"must (?:specify|contain|have|populate|name)\b|.*\b(?:exactly|at least|either) one\b|either\b|one of\b"
)
"""Details on a value that lacks a part of itself."""
CONDITION = re.compile(r"(?:when|unless|with|for)\b")
NEEDED = re.compile(r"(?:needed|required|must be (?:specified|set|there))\b *")
IMMUTABLE = re.compile(r"(?:field )?is immutable\b")
EXCLUDED = re.compile(r"(?:not|excluded|reserved)\b")
CUT = re.compile(r"([\"\[{].{38}(?:.{40})?…): ", re.DOTALL)
"""A value that was cut to the 40 or 80 characters that a message has room for."""
LAST_CHOICE = re.compile(r', ("(?:[^"\\]|\\.)*"|[^",]+)$')
NEAREST = "; did you mean"


def sentence(problem: Problem) -> str:
    """Return the message of a problem with the field's name, the value and what is allowed.

    Messages in none of the API server's forms are returned as they are.
    """
    form, _, rest = problem.message.partition(": ")
    say = FORMS.get(form)
    if say is not None:
        return say(problem.path, rest)
    is_predicate = MODAL.match(problem.message) or VERB.match(problem.message)
    return f"{field_name(problem.path)} {problem.message}" if is_predicate else problem.message


def field_name(path: Path) -> str:
    """Return the end of a path that names a field: from the last entry of a list on, or its last steps.

    >>> field_name(("spec", "containers", 0, "ports", 1, "name"))
    'ports[1].name'
    >>> field_name(("spec", "template", "spec", "restartPolicy"))
    'template.spec.restartPolicy'
    """
    if not path:
        return "this object"
    entries = [at for at, part in enumerate(path) if isinstance(part, int) and at]
    start = entries[-1] - 1 if entries else 0
    while start and isinstance(path[start], int):
        start -= 1
    steps = [at for at in range(start, len(path)) if isinstance(path[at], str)]
    if len(steps) > LONGEST_NAME or not entries:
        start = steps[-min(3, len(steps))]
    return format_path(path[start:])


def split_value(rest: str) -> tuple[str, str]:
    """Return the value that a message shows, and the text after it; the value is empty where none is shown."""
    if (cut := CUT.match(rest)) is not None:
        return cut[1], rest[cut.end() :]
    try:
        _, end = json.JSONDecoder().raw_decode(rest)
    except ValueError:
        return "", rest
    if rest[end : end + 2] not in ("", ": ", "; "):
        return "", rest
    return rest[:end], rest[end:].removeprefix(": ")


def subject(path: Path, shown: str) -> str:
    """Return the field and its value as the beginning of a sentence; a wrong key is named as a key."""
    if len(path) > 1 and isinstance(path[-1], str) and shown == spell_value(path[-1]):
        return f"key {shown} of {field_name(path[:-1])}"
    return f"{field_name(path)} is {shown}" if is_short(shown) else field_name(path)


def is_short(shown: str) -> bool:
    """Say whether a value is a scalar, not empty, that fits into a sentence."""
    return shown not in ("", '""') and shown[0] not in "[{" and len(shown) <= LONGEST_VALUE


def say_invalid(path: Path, rest: str) -> str:
    """Say why a value is wrong."""
    shown, detail = split_value(rest)
    name = subject(path, shown)
    if IMMUTABLE.match(detail):
        return say_immutable(path, detail, shown)
    has_value = name.endswith(f"is {shown}") and bool(shown)
    if MODAL.match(detail):
        return f"{name}, but {detail}" if has_value else f"{name} {detail}"
    if VERB.match(detail):
        return f"{name}, which {detail}" if has_value else f"{name} {detail}"
    return f"{name}: {detail}" if has_value else f"{name} is invalid: {detail}"


def say_immutable(path: Path, detail: str, shown: str = "") -> str:
    """Say that an update changes a field that may not change."""
    name = f"{field_name(path)} {detail.removeprefix('field ')}"
    if ";" in detail:
        return name
    now = f", but is now {shown}" if is_short(shown) else ""
    return f"{name}{now}; restore the old value"


def say_required(path: Path, rest: str) -> str:
    """Say that a field, or a part of it, is missing."""
    name = field_name(path)
    if not rest:
        return f"{name} is required"
    if NEEDED.match(rest):
        return f"{name} is required {NEEDED.sub('', rest, count=1)}".rstrip()
    if CONDITION.match(rest):
        return f"{name} is required {rest}"
    if MODAL.match(rest):
        return f"{name} {rest}"
    if PART.match(rest):
        return f"{name} lacks a required value: {rest}"
    return f"{name} is required: {rest}"


def say_forbidden(path: Path, rest: str) -> str:
    """Say that a field may not be set."""
    name = field_name(path)
    if IMMUTABLE.match(rest):
        return say_immutable(path, rest)
    if MODAL.match(rest) or VERB.match(rest):
        return f"{name} {rest}"
    if EXCLUDED.match(rest):
        return f"{name} is {rest}"
    return f"{name} is not allowed: {rest}"


def say_unsupported(path: Path, rest: str) -> str:
    """Say that a value is none of a closed set, and list the set."""
    shown, detail = split_value(rest)
    choices, near, hint = detail.removeprefix("supported values: ").partition(NEAREST)
    name = subject(path, shown if is_short(shown) else "")
    listed = list_choices(choices)
    return f"{name}, but {listed}{near}{hint}" if name.endswith(shown) else f"{name} {listed}{near}{hint}"


def list_choices(choices: str) -> str:
    """Return which values a field may have, given the list of a message."""
    if choices == "there are none":
        return "can have no value here"
    if choices == '""':
        return "must be empty"
    last = LAST_CHOICE.search(choices)
    if last is None or choices.endswith(" more"):
        return f"must be {choices}"
    return f"must be {choices[: last.start()]} or {last[1]}"


def say_duplicate(path: Path, rest: str) -> str:
    """Say that an entry is there a second time."""
    shown, detail = split_value(rest)
    value = f" {shown}" if shown else " an earlier entry"
    return f"{field_name(path)} repeats{value}{detail or '; each entry must be unique'}"


def say_missing(path: Path, rest: str) -> str:
    """Say that a reference leads to nothing."""
    shown, detail = split_value(rest)
    return f"{field_name(path)} is {shown}, but {detail or 'nothing has that name'}"


def say_long(path: Path, rest: str) -> str:
    """Say that a text is too long."""
    return f"{field_name(path)} {rest}"


def say_many(path: Path, rest: str) -> str:
    """Say that a list has too many entries."""
    count, _, detail = rest.partition(": ")
    return f"{field_name(path)} has {count} items, but {detail}"


FORMS: Mapping[str, Callable[[Path, str], str]] = {
    "duplicate value": say_duplicate,
    "forbidden": say_forbidden,
    "invalid value": say_invalid,
    "not found": say_missing,
    "required value": say_required,
    "too long": say_long,
    "too many": say_many,
    "unsupported value": say_unsupported,
}
"""By the form of the API server (k8s.io/apimachinery v0.35.4 pkg/util/validation/field/errors.go), its sentence."""
