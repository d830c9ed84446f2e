"""A job that its queue can never hold is reported before it waits for ever."""

from __future__ import annotations

import pytest

from make import make_run
from trainyard.preflight.jobs import check_run
from two_sockets import cluster

QUOTAS = {
    "enough of its own": ({"nominalQuota": {"gpu": {"gpus": 16}}}, {}, None),
    "not enough, and nowhere to borrow": ({"nominalQuota": {"gpu": {"gpus": 8}}}, {}, "16 nvidia.com/gpu"),
    "none of what it asks for": ({"nominalQuota": {"gpu": {"gpus": 0}}}, {}, "more than 0 of pool 'gpu'"),
    "borrowed from others": ({"cohort": "all", "nominalQuota": {"gpu": {"gpus": 8}}}, {}, None),
    "less lent than it needs": (
        {"cohort": "all", "nominalQuota": {"gpu": {"gpus": 8}}, "borrowingLimit": {"gpu": {"gpus": 4}}},
        {},
        "16 nvidia.com/gpu",
    ),
    "fewer nodes will do": ({"nominalQuota": {"gpu": {"gpus": 8}}}, {"min_nodes": 1}, None),
}


@pytest.mark.parametrize(("queue", "job", "said"), QUOTAS.values(), ids=QUOTAS)
def test_a_queue_that_can_never_hold_the_job(queue, job, said):
    """What a queue has, with all that it may borrow, is at least what the job needs, or the job waits for ever."""
    other = {"teams": ["ads"], "cohort": "all", "nominalQuota": {"gpu": {"gpus": 24}}}
    queues = {"research": {"teams": ["nlp"], **queue}, "other": other}
    found = check_run(make_run(cluster=cluster(queues=queues), nodes=2, gpus_per_node=8, **{"kind": "Job", **job}))[1]
    assert [each.rule for each in found] == ([] if said is None else ["kq-max-quota"])
    assert all(said in each.message and len(each.message.split()) <= 20 for each in found)
