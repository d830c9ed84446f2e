"""Queues that promise more of a pool than its nodes have are told so, where Kueue counts quota alone."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.nominal_quota import check

GPUS = {"gpu": {"shape": "dgx-h100", "nodes": 4}}


def queue(quota: dict[str, Any]) -> dict[str, Any]:
    """Return a queue with a quota of the pool `gpu`."""
    return {"teams": ["nlp"], "cohort": "all", "nominalQuota": {"gpu": quota}}


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all of it": ({"queues": {"a": queue({"gpus": 16}), "b": queue({"nodes": 2})}}, []),
    "one GPU too many": (
        {"queues": {"a": queue({"gpus": 17}), "b": queue({"nodes": 2})}},
        ["queues promise 33 nvidia.com/gpu of pool 'gpu', whose nodes have 32; lower a quota, or declare a topology"],
    ),
    "with what a cohort adds": (
        {"queues": {"a": queue({"nodes": 4})}, "cohorts": {"all": {"nominalQuota": {"gpu": {"gpus": 8}}}}},
        ["queues promise 40 nvidia.com/gpu of pool 'gpu', whose nodes have 32; lower a quota, or declare a topology"],
    ),
    "CPUs beside all GPUs": (
        {"queues": {"a": queue({"gpus": 32}), "b": queue({"cpus": 16, "memory": "1Gi"})}},
        ["queues promise 848 cpu of pool 'gpu', whose nodes have 832; lower a quota, or declare a topology"],
    ),
    "too many GPUs where Kueue looks at nodes": (
        {"queues": {"a": queue({"gpus": 64})}, "topology": [{"rack": "example.com/rack"}]},
        [],
    ),
}


@pytest.mark.parametrize(("changes", "messages"), CASES.values(), ids=CASES)
def test_queues_promise_no_more_than_nodes_have(changes, messages):
    """It is said once a pool, at the last of its quotas."""
    changes = {"pools": GPUS, "topology": None, **changes}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source))
    assert [item.message for item in found] == messages
    assert {item.rule for item in found} <= {"kq-nominal-vs-nodes"}
    assert all((item.path or "").endswith("nominalQuota.gpu") and item.location.line for item in found)
