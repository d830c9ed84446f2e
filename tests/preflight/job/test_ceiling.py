"""A job that its queue can never hold is reported before it waits for ever."""

from __future__ import annotations

import pytest

from make import make_run
from trainyard.judge.preflight.jobs import check_run
from two_sockets import cluster

QUOTAS = {
    "enough of its own": ({"nominalQuota": {"gpu": {"gpus": 16}}}, {}, None),
    "not enough, and nowhere to borrow": ({"nominalQuota": {"gpu": {"gpus": 8}}}, {}, "16 nvidia.com/gpu"),
    "none of what it asks for": ({"nominalQuota": {"gpu": {"gpus": 0}}}, {}, "at most 0 of pool 'gpu'"),
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
    assert [item.rule for item in found] == ([] if said is None else ["kq-max-quota"])
    assert all(said in item.message and len(item.message.split()) <= 20 for item in found)


CPUS = {"pool": "cpu", "gpus_per_node": 0, "kind": "Job", "nodes": 2, "cpus_per_node": 7, "memory_per_node": "8Gi"}
PODS = {
    "as much as there is": ({"cpus": 14, "memory": "16Gi"}, {}, None),
    "containers beside": ({"cpus": 14, "memory": "64Gi"}, {"containers": [{"name": "a"}]}, "14.2 cpu"),
    "an init container": (
        {"cpus": 14, "memory": "64Gi"},
        {"init_containers": [{"name": "a", "resources": {"limits": {"memory": "33Gi"}}}]},
        "66Gi memory",
    ),
    "disk": ({"nodes": 1}, {"cpus_per_node": 1, "memory_per_node": "1Gi", "scratch": "100Gi"}, "ephemeral-storage"),
}


@pytest.mark.parametrize(("quota", "job", "said"), PODS.values(), ids=PODS)
def test_a_queue_holds_whole_pods(quota, job, said):
    """Kueue counts every container of a pod and every resource that the queue covers, disk too."""
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"cpu": quota}}}
    found = check_run(make_run(cluster=cluster(queues=queues), **{**CPUS, **job}))[1]
    assert [item.rule for item in found] == ([] if said is None else ["kq-max-quota"])
    assert all(said in item.message and len(item.message.split()) <= 20 for item in found)


def test_mpi_fills_its_quota():
    """The pod that starts the ranks is among what the queue holds: the workers leave it disk as well."""
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}
    run = make_run(cluster=cluster(queues=queues), kind="MPIJob", launcher="mpirun", nodes=4, gpus_per_node=8)
    assert check_run(run)[1] == []
