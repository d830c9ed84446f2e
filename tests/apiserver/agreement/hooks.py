"""Objects of the kinds that operators' webhooks judge, changed at the fields that those webhooks read.

`bases.json` holds valid objects by name, `edits.json` for each of them paths with values worth trying; `GONE` takes
the field away. A case is a name and places in the table, so that thousands of labelled ones stay small. `settled.json`
holds what an object needs besides, for an update that changes nothing to be accepted.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "data" / "webhooks"
GONE = "~"
PROJECTS = {
    "kueue": "0.19.2",
    "jobset": "0.12.0",
    "trainer": "2.3.0",
    "mpi-operator": "0.8.2",
    "training-operator": "1.9.4",
    "kuberay": "1.6.2",
    "lws": "0.9.0",
}
"""Releases whose programs answered together: Kueue with the operators of jobs that it queues."""

Picks = list[tuple[int, int]]


def read(name: str) -> Any:
    """One of the tables."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def put(value: Any, path: str, part: Any) -> bool:
    """Set a field, whose parts are divided by bars; false where there is no such place."""
    *steps, last = path.split("|")
    for number, step in enumerate(steps):
        if isinstance(value, list):
            if int(step) >= len(value):
                return False
            value = value[int(step)]
            continue
        if value.get(step) is None:
            if part == GONE or [*steps[number + 1 :], last][0].isdigit():
                return False
            value[step] = {}
        value = value[step]
        if not isinstance(value, (dict, list)):
            return False
    if isinstance(value, list):
        if int(last) >= len(value):
            return False
        value[int(last)] = copy.deepcopy(part)
        return True
    if part == GONE:
        return value.pop(last, None) is not None
    value[last] = copy.deepcopy(part)
    return True


def settled(name: str, base: dict[str, Any]) -> dict[str, Any]:
    """A base as a server keeps it: amounts are texts, as webhooks write them, and defaults that cannot change."""
    value = copy.deepcopy(base)
    for path, part in read("settled").get(name, ()):
        put(value, path, part)
    return value


def change(base: dict[str, Any], edits: list[Any], picks: Picks) -> dict[str, Any] | None:
    """A base with some edits; None where one of them has no place."""
    changed = copy.deepcopy(base)
    for edit, choice in picks:
        path, values = edits[edit]
        if not put(changed, path, values[choice]):
            return None
    return changed
