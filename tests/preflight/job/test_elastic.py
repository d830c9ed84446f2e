"""Jobs that may change their size say what stays, and keep what they cannot lose where nodes stay."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_run
from trainyard.judge.preflight.jobs import check_run

RULES = {"ft-elastic-batch", "ft-spot-rank0", "spec/nodes", "run/elastic"}

POOLS: dict[str, Any] = {**CLUSTER["pools"], "spot": {"shape": "dgx-h100", "nodes": 4, "spot": True}}
OPERATORS: dict[str, Any] = {**CLUSTER["operators"], "mpi-operator": {"version": "0.8.2"}}


def queue(*pools: str) -> dict[str, Any]:
    """Return a queue over pools of GPUs."""
    return {"research": {"teams": ["nlp"], "nominalQuota": {pool: {"gpus": 32} for pool in pools}}}


ELASTIC: dict[str, Any] = {"kind": "Job", "nodes": 3, "min_nodes": 2}
HOROVOD: dict[str, Any] = {"launcher": "horovod", "kind": "MPIJob", "nodes": 3, "min_nodes": 2, "gpus_per_node": 8}
CASES: dict[str, tuple[dict[str, Any], tuple[str, ...], list[str]]] = {
    "a batch of each rank": (
        {**ELASTIC, "args": ["--lr", "1e-4", "--per_device_train_batch_size", 8]},
        ("gpu",),
        [
            (
                "--per_device_train_batch_size is the batch per rank, so the global batch changes with 2 to 3 nodes; "
                "set the global batch"
            )
        ],
    ),
    "a batch of each rank, of a job that may grow alone": (
        {**ELASTIC, "min_nodes": 3, "max_nodes": 4, "args": ["--batch-size=8"]},
        ("gpu",),
        [("--batch-size is the batch per rank, so the global batch changes with 3 to 4 nodes; set the global batch")],
    ),
    "the batch of all ranks, and of one": (
        {**ELASTIC, "args": ["--global-batch-size", 4096, "--micro-batch-size", 4]},
        ("gpu",),
        [],
    ),
    "a batch of each rank, whose number stays": ({"nodes": 3, "args": ["--batch-size", 8]}, ("gpu",), []),
    "no word of a batch": ({**ELASTIC, "args": ["--steps", 10]}, ("gpu",), []),
    "more nodes than there are": (
        {**ELASTIC, "max_nodes": 9},
        ("gpu",),
        ["maxNodes is 9, but pool 'gpu' fits 4 such pods; lower it"],
    ),
    "a launcher on spot nodes, beside others": (
        {**HOROVOD, "pool": "spot"},
        ("spot", "gpu"),
        ["role 'launcher' is on spot pool 'spot', and its loss stops all other pods; move it to pool 'gpu'"],
    ),
    "a launcher on nodes that stay": (
        {**HOROVOD, "pool": "spot", "roles": {"launcher": {"pool": "gpu"}}},
        ("spot", "gpu"),
        [],
    ),
    "a launcher in a queue that has spot nodes alone": ({**HOROVOD, "pool": "spot"}, ("spot",), []),
    "a kind of fixed size": (
        {**ELASTIC, "kind": "JobSet"},
        ("gpu",),
        ["minNodes is 2, but kind 'JobSet' is not elastic; kinds that are: Job"],
    ),
    "a launcher of fixed size": (
        {**ELASTIC, "launcher": "accelerate"},
        ("gpu",),
        ["minNodes is 2, but launcher 'accelerate' is not elastic; remove it"],
    ),
}


@pytest.mark.parametrize(("job", "pools", "messages"), CASES.values(), ids=CASES)
def test_what_an_elastic_job_leaves_open(job, pools, messages):
    """Each is one sentence at the field that says it; a job of fixed size is told nothing."""
    cluster = make_cluster(pools=POOLS, queues=queue(*pools), operators=OPERATORS, recovery_minutes=0)
    _, findings = check_run(make_run(cluster=cluster, **job))
    assert [finding.message for finding in findings if finding.rule in RULES] == messages
    assert all(len(finding.message.split()) <= 20 for finding in findings if finding.rule in RULES)
