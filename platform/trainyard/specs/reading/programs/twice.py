"""What a program makes in one world and not in another, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.documents import format_path

Answer = Mapping[str, Any]

HELP = {
    "chance": "by chance; derive it from the loop",
    "clock": "by the clock; write the time down",
    "folder": "by its folder; write the path down",
    "machine": "by machine or user; write it down",
    "environment": "by the environment; write it down",
    "order": "by the order of a set or a hash; sort it",
    "": "by where and when it runs; write it down",
}
"""By what surroundings do to a program: what it follows, and what helps."""


def difference(first: Answer, other: Answer, factor: str = "") -> Answer | None:
    """Return message, line and field of what differs between two answers of one program; their order does not count.

    A program that fails in the first world is no program that differs.
    """
    if "problems" in first:
        return None
    if wrong := other.get("problems"):
        said = {"message": f"program fails elsewhere, {HELP[factor]}: {wrong[0]['message']}"}
        return {**said, "line": wrong[0].get("line", 1)}
    made, there = ({job["name"]: job for job in answer["jobs"]} for answer in (first, other))
    for name, job in made.items():
        if name not in there:
            return {"message": f"jobs() yields {name!r} only sometimes, {HELP[factor]}", "line": job["line"]}
        path = where(job["job"], there[name]["job"])
        if path is not None:
            at = format_path(path)
            message = f"jobs() yields different jobs each time: {at} of {name!r} differs {HELP[factor]}"
            return {"message": message, "line": job["line"], "path": at}
    if more := next((name for name in there if name not in made), None):
        return {"message": f"jobs() yields {more!r} only sometimes, {HELP[factor]}", "line": there[more]["line"]}
    return None


def where(one: Any, other: Any) -> tuple[str | int, ...] | None:
    """Return the path to the first value that differs, or None where all are the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in one or key not in other:
                return (key,)
            if (path := where(one[key], other[key])) is not None:
                return (key, *path)
        return None
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return ()
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            if (path := where(left, right)) is not None:
                return (index, *path)
        return None
    return None if type(one) is type(other) and one == other else ()
