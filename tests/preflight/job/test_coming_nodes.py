"""A job on nodes that come and go: asks for no place that nobody knows, and ends before its capacity does."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_run, make_sizing
from trainyard.judge.preflight.job import coming_nodes, reserved
from trainyard.judge.preflight.subjects import Planned

BLOCK = {"id": "cr-1", "starts": "2026-12-10T11:30Z", "ends": "2026-12-24T11:30Z", "earlyMinutes": 30}
"""Two weeks, less half an hour."""


def pools(**gpu: Any) -> dict[str, Any]:
    """Return a cluster with other fields of its pool `gpu`."""
    return {"pools": {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "racks": 1, **gpu}}}


SCALES = pools(nodes={"max": 4})
FLEX = pools(nodes={"max": 4}, scaling={"provisioning": "queued-provisioning.gke.io"})
ASKS = pools(nodes={"max": 4}, scaling={"provisioning": "check-capacity.autoscaling.x-k8s.io"})

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "a place in a fixed pool": ({}, {"topology": {"required": "rack"}}, []),
    "no place in a pool that scales": (SCALES, {}, []),
    "a place that Kueue does not see": (
        SCALES,
        {"topology": {"preferred": "rack"}},
        [
            (
                "topology.preferred",
                "topology is 'rack', but 'gpu' scales, and Kueue does not see coming nodes; remove topology",
            )
        ],
    ),
    "a place that may be had": (ASKS, {"topology": {"preferred": "rack"}}, []),
    "a place that may not be had": (
        ASKS,
        {"topology": {"required": "rack"}},
        [
            (
                "topology.required",
                "topology requires one rack, but nodes of pool 'gpu' may start in several; use preferred",
            )
        ],
    ),
    "less than the block has": (pools(reservation=BLOCK), {"max_hours": 335.5}, []),
    "more than the block has": (
        pools(reservation=BLOCK),
        {"max_hours": 336},
        [
            (
                "maxHours",
                (
                    "maxHours is 336, but the reservation of pool 'gpu' has 335.5 hours, until 2026-12-24T11:30Z; "
                    "lower maxHours"
                ),
            )
        ],
    ),
    "no end at all": (
        pools(reservation=BLOCK),
        {},
        [
            (
                "pool",
                "the reservation of pool 'gpu' ends 2026-12-24T11:30Z, but the job has no maxHours; add at most 335.5",
            )
        ],
    ),
    "no reservation, and no end": (pools(), {}, []),
    "a week of flex-start": (FLEX, {"max_hours": 168}, []),
    "flex-start without an end": (FLEX, {}, []),
    "a long job on nodes of another class": (ASKS, {"max_hours": 240}, []),
    "more than a week of flex-start": (
        FLEX,
        {"max_hours": 240},
        [
            (
                "maxHours",
                "maxHours is 240, but GKE deletes flex-start nodes of pool 'gpu' after 168 hours; lower maxHours",
            )
        ],
    ),
}


@pytest.mark.parametrize(("cluster", "job", "expected"), CASES.values(), ids=CASES)
def test_a_job_asks_only_for_what_will_be_there(cluster, job, expected):
    """It is said at the job's field, with what to write."""
    planned = Planned.of(make_run(cluster=make_cluster(**cluster), **job))
    found = [*coming_nodes.check(planned), *reserved.check(planned), *reserved.check_flex(planned)]
    assert [(item.path, item.message) for item in found] == expected


def test_nobody_is_asked_for_places_among_nodes_that_come():
    """Pods of a pool that scales are placed near each other only where Kueue asks for their nodes."""
    assert make_sizing(cluster=make_cluster(**SCALES)).topology is None
    assert make_sizing(cluster=make_cluster(**ASKS)).topology is not None
