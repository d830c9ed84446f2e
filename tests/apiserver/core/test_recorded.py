"""Core kinds: what a kube-apiserver said of changed objects, replayed without one.

Each line of `data/core/*.jsonl` is an object of `bases.jsonl` with changes (a path and its new value, or a path alone
where the field is gone), the server's verdict, and fields that it named. `updated.jsonl` changes what exists already.
Recorded were the smallest changes for each thing that a server had to say of a kind, where we agreed then; refusals
while decoding are another layer's. Servers: 1.34.4, 1.35.4, 1.36.3 and 1.37.2.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from apiserver.core_objects import changed, judged, spelled
from trainyard.upstream.apiserver import Problem

DATA = Path(__file__).resolve().parents[1] / "data" / "core"
FILES = ("created", "updated", "definitions")
LIMIT = 0.005
"""Share of the recorded verdicts that may be wrong."""


def read(name: str) -> list[dict[str, Any]]:
    """Read one file of the recordings."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def bases() -> dict[str, Any]:
    """Return the objects that the recorded cases start from."""
    return {row["name"]: row["object"] for row in read("bases")}


@cache
def recorded(file: str) -> list[tuple[dict[str, Any], list[Problem]]]:
    """Return the recorded cases of a file, each with what we say of it."""
    found = []
    for row in read(file):
        base = bases()[row["base"]]
        old = base if file == "updated" else None
        found.append((row, judged(changed(base, row["change"]), kubernetes=row["kubernetes"], old=old)))
    return found


def is_related(mine: str, theirs: str) -> bool:
    """Whether two fields are the same, or one holds the other."""
    return mine == theirs or any(
        long.startswith((f"{short}.", f"{short}[")) for short, long in ((mine, theirs), (theirs, mine))
    )


@pytest.mark.parametrize("file", FILES)
def test_verdicts_are_the_servers(file: str) -> None:
    """Almost every recorded verdict is ours as well, and no kind has more than one that is not."""
    rows, wrong = recorded(file), Counter[str]()
    notes = []
    for row, problems in rows:
        if row["valid"] == bool(problems):
            wrong[row["base"]] += 1
            notes.append(f"{row['base']} {row['change']}: {problems[:1] or 'accepted'}")
    assert wrong.total() <= LIMIT * len(rows), "\n".join(notes)
    assert not [base for base, count in wrong.items() if count > 1], "\n".join(notes)


@pytest.mark.parametrize("file", FILES)
def test_problems_stand_where_the_server_sees_them(file: str) -> None:
    """A refusal names a field that the server names too, or one that holds it or is in it."""
    for row, problems in recorded(file):
        if "at" in row:
            fields = [spelled(problem.path) for problem in problems]
            assert any(is_related(mine, theirs) for mine in fields for theirs in row["at"]), (row, fields)


def test_recorded_objects_pass() -> None:
    """The objects that the cases start from are valid in every release, or in the one that their name says."""
    for name, base in bases().items():
        for kubernetes in ("1.37",) if " 1.37 " in name else ("1.34", "1.35", "1.36", "1.37"):
            assert judged(base, kubernetes=kubernetes) == [], (name, kubernetes)


def test_every_problem_can_be_traced() -> None:
    """Every problem has a rule of its layer, a short sentence, and the upstream file it restates."""
    for _, problems in recorded("created"):
        for problem in problems:
            assert problem.rule.split("/")[0] in {"core", "meta", "update"}
            assert re.fullmatch(r"[^\n]*[^\n.]", problem.message), problem
            assert re.search(r" v\d+\.\d+\.\d+ ", problem.source), problem
