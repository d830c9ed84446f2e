"""Priorities whose values contradict their names are found at the value."""

from __future__ import annotations

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.priorities import check

CASES: dict[str, tuple[dict[str, int], list[tuple[str, str]]]] = {
    "as the names say": ({"low": 0, "normal": 100, "high": 1000}, []),
    "upside down": (
        {"low": 1000, "normal": 100, "high": 0},
        [
            ("low", "priority 'low' is 1000 and 'high' 0, so 'low' jobs go first; swap the values"),
            ("normal", "priority 'normal' is 100 and 'high' 0, so 'normal' jobs go first; swap the values"),
        ],
    ),
    "one digit lost at the top": (
        {"best-effort": 0, "normal": 100, "high-priority": 1000, "critical": 10},
        [("critical", "priority 'normal' is 100 and 'critical' 10, so 'normal' jobs go first; swap the values")],
    ),
    "lowest and highest as one": (
        {"low": 10, "high": 10},
        [("low", "priorities 'low' and 'high' are both 10, so neither goes first; use different values")],
    ),
    "two names for one value": ({"low": 0, "normal": 100, "high": 100}, []),
    "words of one rank": ({"normal": 100, "default": 50, "medium": 75, "urgent": 200, "critical": 150}, []),
    "names that say nothing of an order": ({"interactive": 0, "nightly": 1000, "high-memory": -5}, []),
}


@pytest.mark.parametrize(("priorities", "expected"), CASES.values(), ids=CASES)
def test_values_rise_as_names_do(priorities, expected):
    """Names without a known rank are left alone, and neighbours may have one value."""
    changes = {"priorities": priorities, "topology": None}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source))
    assert [((item.path or "").rpartition(".")[2], item.message) for item in found] == expected
    assert all(item.rule == "kq-priority-order" and item.location.line for item in found)
