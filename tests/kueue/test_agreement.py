"""The table of how often we decide as Kueue does counts what it says."""

from __future__ import annotations

import json
import sys

import pytest

from conftest import ROOT
from kueue.test_replay import read
from kueue.worlds import case
from trainyard.upstream.kueue.replay import replay

sys.path.append(str(ROOT / "tools"))

import kueue_agreement


def changed(answer, field, value):
    """Return an answer with another value in the first Workload that has the field."""
    found = json.loads(json.dumps(answer))
    next(workload for workload in found["workloads"].values() if field in workload)[field] = value
    return found


@pytest.fixture(scope="module")
def admitted():
    """The first recorded case with victims, and its answer."""
    return next(
        item
        for item in read()
        if any("victims" in found and "podSets" in found for found in item["answer"].get("workloads", {}).values())
    )


def test_a_difference_is_counted_where_it_is(admitted):
    """Agreement is counted for each of the fields, and cases that Kueue decides in several ways are none."""
    seed, answer = admitted["seed"], admitted["answer"]
    ours = replay(case(seed))
    table = kueue_agreement.Table()
    table.add(seed, answer, ours)
    assert not table.differ
    assert set(table.agree.values()) == {1}
    table.add(seed + 1, changed(answer, "outcome", "lost"), ours)
    table.add(seed + 2, changed(answer, "victims", []), ours)
    table.add(seed + 3, changed(answer, "message", "in other words"), ours)
    table.add(seed + 4, {**answer, "unstable": 2}, ours)
    assert table.differ == {seed + 1: ("outcomes",), seed + 2: ("victims",), seed + 3: ("other fields",)}
    assert (table.agree["outcomes"], table.agree["placements"], table.agree["every field"]) == (3, 4, 1)
    assert "5 cases; 1 that Kueue itself decides in several ways; 0 crash it" in "\n".join(table.lines())
