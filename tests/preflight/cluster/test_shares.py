"""A cohort that one queue alone names is told at that queue, with what has no effect there."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.shares import check

RECLAIM = {"preemption": {"reclaimWithinCohort": "Any"}}


def queue(cohort: str, **others: Any) -> dict[str, Any]:
    """Return a queue of a cohort."""
    return {"teams": ["nlp"], "cohort": cohort, "nominalQuota": {"gpu": {"gpus": 8}}, **others}


CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "all in one": ({"a": queue("gpus"), "b": queue("gpus", **RECLAIM)}, []),
    "the first of three": (
        {"a": queue("gpu", borrowingLimit={"gpu": {"gpus": 8}}), "b": queue("gpus"), "c": queue("gpus")},
        [
            (
                "queues.a.cohort",
                "queue 'a' is the only one in cohort 'gpu', so its borrowingLimit has no effect; did you mean 'gpus'?",
            )
        ],
    ),
    "one of two, of which either may be meant": (
        {"a": queue("gpus"), "b": queue("gp", lendingLimit={"gpu": {"gpus": 8}})},
        [
            (
                "queues.b.cohort",
                "queue 'b' is the only one in cohort 'gp', so its lendingLimit has no effect; did you mean 'gpus'?",
            )
        ],
    ),
}


@pytest.mark.parametrize(("queues", "expected"), CASES.values(), ids=CASES)
def test_a_lone_cohort_with_a_near_name_is_found_once(queues, expected):
    """Where two are alone, the finding moves to the one that was changed."""
    changes = {"pools": {"gpu": {"shape": "dgx-h100", "nodes": 4}}, "queues": queues, "topology": None}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source, {"nlp"}))
    assert [(item.path, item.message) for item in found] == expected
    if len(queues) == 2 and found:
        assert [path for path, _ in found[0].shared] == ["queues.a.cohort"]
