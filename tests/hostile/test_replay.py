"""Cases for Kueue's decision that no cluster can have are answered in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import call

COHORTS = [
    {"kind": "Cohort", "metadata": {"name": f"c{index}"}, "spec": {"parentName": f"c{index + 1}"}}
    for index in range(3000)
]
QUEUE = {"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"cohortName": "c0"}}


def test_a_chain_of_cohorts(tmp_path: Path) -> None:
    """Three thousand cohorts in one another are an error of that case, and the next one is answered."""
    cases = [{"name": "deep", "objects": [*COHORTS, QUEUE]}, {"name": "next", "objects": []}]
    (tmp_path / "cases.jsonl").write_text("\n---\n".join(map(json.dumps, cases)))
    done = call(tmp_path, "admit", "--replay", "cases.jsonl")
    deep, after = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, after["name"]) == (1, "next"), done.stderr
    assert "simulates fewer levels" in deep["error"]


@pytest.mark.parametrize("command", [("admit", "--replay"), ("node", "replay")], ids=" ".join)
def test_cases_without_end(command: tuple[str, ...], tmp_path: Path) -> None:
    """A device that never ends is refused, as is a file beyond what is read."""
    done = call(tmp_path, *command, "/dev/zero")
    assert done.returncode == 2
    assert "document has more than" in done.stderr
