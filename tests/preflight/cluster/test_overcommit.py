"""Quotas of a pool are no more than its machines, one by one and together."""

from __future__ import annotations

import pytest

from make import CLUSTER, fields, make_cluster, make_source, write_repository
from trainyard.judge.preflight import check_repository
from trainyard.judge.preflight.cluster import overcommit

ALL = {"gpu": {"gpus": 32}, "cpu": {"nodes": 4}}
HALF = {"gpu": {"gpus": 16}}

CASES = {
    "all of it": ({"a": ALL}, {}, []),
    "halves": ({"a": HALF, "b": HALF}, {}, []),
    "nothing": ({"a": ALL, "b": {"gpu": {"gpus": 0}}}, {}, []),
    "one queue above": ({"a": {"gpu": {"gpus": 640}}}, {}, ["queues.a.nominalQuota.gpu"]),
    "one GPU above": ({"a": {"gpu": {"gpus": 33}}}, {}, ["queues.a.nominalQuota.gpu"]),
    "nodes above": ({"a": {"cpu": {"nodes": 40}}}, {}, ["queues.a.nominalQuota.cpu"]),
    "CPUs above": ({"a": {"cpu": {"cpus": 65, "memory": "1Gi"}}}, {}, ["queues.a.nominalQuota.cpu"]),
    "memory above": ({"a": {"cpu": {"cpus": 1, "memory": "257Gi"}}}, {}, ["queues.a.nominalQuota.cpu"]),
    "CPUs of one and memory of another": (
        {"a": {"cpu": {"cpus": 60, "memory": "1Gi"}}, "b": {"cpu": {"cpus": 1, "memory": "250Gi"}}},
        {},
        [],
    ),
    "together above": ({"a": HALF, "b": HALF, "c": {"gpu": {"gpus": 1}}}, {}, ["queues.c.nominalQuota.gpu"]),
    "in other words": ({"a": HALF, "b": {"gpu": {"nodes": 3}}}, {}, ["queues.b.nominalQuota.gpu"]),
    "a cohort's own too": ({"a": ALL}, {"x": {"nominalQuota": {"gpu": {"gpus": 8}}}}, ["cohorts.x.nominalQuota.gpu"]),
    "a cohort's share": ({"a": HALF}, {"x": {"nominalQuota": {"gpu": {"gpus": 16}}}}, []),
}


SPARES = {
    "the rest of the pool": ({"a": {"gpu": {"gpus": 24}}}, []),
    "one queue uses the spare": (
        {"a": {"gpu": {"gpus": 32}}},
        ["quota is 32 GPUs of pool 'gpu', which has 24 GPUs beside 1 spare; lower it"],
    ),
    "all queues together do": (
        {"a": HALF, "b": HALF},
        [
            (
                "queue 'a' and queue 'b' need 4 nodes of pool 'gpu', which has 3 beside 1 spare; "
                "lower a quota, or waive this"
            )
        ],
    ),
}


@pytest.mark.parametrize(("quotas", "expected"), SPARES.values(), ids=SPARES)
def test_spares_are_in_no_quota(quotas, expected):
    """A node that is kept for when another fails is given to no queue."""
    pools = {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "spares": 1}}
    found = overcommit.check(make_cluster(queues=queues(quotas), pools=pools), make_source("a.yaml", CLUSTER))
    assert [finding.message for finding in found] == expected


def queues(quotas):
    """Return queues of these quotas, which may borrow all of each other's."""
    return {name: {"teams": ["nlp"], "cohort": "x", "nominalQuota": quota} for name, quota in quotas.items()}


@pytest.mark.parametrize(("quotas", "cohorts", "expected"), CASES.values(), ids=CASES)
def test_quotas(quotas, cohorts, expected):
    """What is above the machines is told at the quota, or at the last of all together; borrowing adds nothing."""
    changes = {"queues": queues(quotas), "cohorts": cohorts}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    assert [item.path for item in overcommit.check(make_cluster(**changes), source)] == expected


def test_a_cluster_states_that_it_gives_more_than_it_has(tmp_path):
    """Whoever knows that not all ask at once says so, with a reason."""
    whole = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}
    cluster = {**CLUSTER, "queues": {**CLUSTER["queues"], "other": whole}}
    write_repository(tmp_path, clusters={"test": cluster})
    assert [finding.rule for finding in check_repository(tmp_path).findings] == ["kq-overcommit"]
    stated = {**cluster, "waive": {"kq-overcommit": "the two teams train on alternate days"}}
    write_repository(tmp_path, clusters={"test": stated})
    assert check_repository(tmp_path).findings == []
