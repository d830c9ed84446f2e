"""An error that a change of the platform causes stands at the line that changed, of several at the right one."""

from __future__ import annotations

import pytest

from trainyard.render.tree.changed import blamed_location, changes

BEFORE = """kubernetes: "1.35"
pools:
  cpu: {shape: kind-8, nodes: 3}
priorities: {normal: 100}
queues:
  research: {teams: [research]}
"""

CASES: dict[str, tuple[str, str, tuple[int, int]]] = {
    "a name within a line": (
        BEFORE.replace("{normal: 100}", "{high: 100}"),
        "priority 'normal' does not exist on cluster 'dev'",
        (4, 14),
    ),
    "the line that is spoken of, of two": (
        BEFORE.replace("nodes: 3", "nodes: 4").replace("{normal: 100}", "{high: 100}"),
        "priority 'normal' does not exist",
        (4, 14),
    ),
    "the first, where none is": (
        BEFORE.replace("nodes: 3", "nodes: 4").replace("{normal: 100}", "{high: 100}"),
        "pods do not fit",
        (3, 31),
    ),
    "a line that is gone": (BEFORE.replace("priorities: {normal: 100}\n", ""), "priority 'normal' is gone", (4, 1)),
    "the last line that is gone": (
        BEFORE.replace("  research: {teams: [research]}\n", ""),
        "queue 'research' does not exist",
        (5, 1),
    ),
    "a number that grows": (BEFORE.replace("100", "1000"), "priority 'normal' weighs more", (4, 22)),
    "a file that is gone": ("", "cluster 'dev' does not exist", (1, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_that_changed_is_found(case: str) -> None:
    """Line and column of what differs, at the start of the word."""
    after, message, place = CASES[case]
    found = blamed_location(changes("platform/clusters/dev.yaml", BEFORE.encode(), after.encode()), message)
    assert found is not None
    assert (found.line, found.column) == place


def test_a_new_file_is_blamed_from_its_start() -> None:
    """Nothing was there before."""
    found = blamed_location(changes("platform/teams/new.yaml", None, b"group: a\n"), "team 'a'")
    assert found is not None
    assert (found.file, found.line, found.column) == ("platform/teams/new.yaml", 1, 1)
