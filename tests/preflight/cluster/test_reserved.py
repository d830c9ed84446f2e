"""A pool of a capacity block says when it ends."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.reserved import check

BLOCK = {"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}
RESERVATION = {"id": "cr-1", "starts": "2026-12-10T11:30Z", "ends": "2026-12-24T11:30Z"}

CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "a block without an end": ({"labels": BLOCK}, True),
    "a block with its end": ({"labels": BLOCK, "reservation": {**RESERVATION, "earlyMinutes": 30}}, False),
    "a reservation that is no block": ({"reservation": RESERVATION}, False),
    "nodes on demand": ({"labels": {"eks.amazonaws.com/capacityType": "ON_DEMAND"}}, False),
    "a label of one's own": ({"labels": {"team": "CAPACITY_BLOCK"}}, False),
    "no label": ({}, False),
}


@pytest.mark.parametrize(("fields", "expected"), CASES.values(), ids=CASES)
def test_a_capacity_block_has_its_end(fields, expected):
    """The warning stands at the label, and a pool that says its end, or has none, is silent."""
    changes = {"pools": {"cpu": {"shape": "kind-8", "nodes": 2, **fields}}}
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    found = [(str(item.severity), item.path) for item in check(make_cluster(**changes, queues=None), source)]
    assert found == [("warning", 'pools.cpu.labels["eks.amazonaws.com/capacityType"]')] * expected


@pytest.mark.parametrize(("early", "path"), [({}, "reservation"), ({"earlyMinutes": 10}, "reservation.earlyMinutes")])
def test_nodes_of_a_capacity_block_end_half_an_hour_early(early, path):
    """The warning stands at the minutes that are too few, or at the reservation that says none."""
    pool = {"shape": "kind-8", "nodes": 2, "labels": BLOCK, "reservation": {**RESERVATION, **early}}
    changes = {"pools": {"cpu": pool}}
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    (found,) = check(make_cluster(**changes, queues=None), source)
    assert (found.rule, found.path, str(found.severity)) == ("spec/reservation-early", f"pools.cpu.{path}", "warning")
