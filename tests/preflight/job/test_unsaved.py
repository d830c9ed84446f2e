"""A run of many GPU-hours that saves nothing is reported, the sooner where something may stop it."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_job_file, make_repository, make_specs
from trainyard.judge.preflight.job.unsaved import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob


def messages(cluster: dict[str, Any] | None = None, bound: int = 50, **job: Any) -> list[str]:
    """Return what is said of a job of two nodes with eight GPUs each."""
    file = make_job_file(**job)
    specs = make_specs(
        file, clusters={"test": make_cluster(**(cluster or {}))}, repository=make_repository(unsaved_gpu_hours=bound)
    )
    return [finding.message for finding in check(OneJob(specs, file, run_of(specs, file)))]


def queues(**preemption: str) -> dict[str, Any]:
    """Return a cluster whose queue `research` shares a cohort with one that has this preemption."""
    quota = CLUSTER["queues"]["research"]["nominalQuota"]
    research = {**CLUSTER["queues"]["research"], "cohort": "all"}
    other = {"teams": ["nlp"], "cohort": "all", "nominalQuota": quota, "preemption": preemption}
    return {"queues": {"research": research, "other": other}}


def within(policy: str) -> dict[str, Any]:
    """Return a cluster whose queue has this preemption within it."""
    return {"queues": {"research": {**CLUSTER["queues"]["research"], "preemption": {"withinClusterQueue": policy}}}}


SPOT = {"pools": {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "spot": True, "noticeSeconds": 30}}}
HALF = {"nodes": 1, "max_hours": 4}
"""32 GPU-hours: more than half of the bound, and less than the bound."""

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "three days": (
        {"max_hours": 72},
        "the job takes 16 GPUs for 72 hours and saves nothing; add checkpoint",
    ),
    "no deadline": (
        {},
        "the job takes 16 GPUs without a deadline and saves nothing; add checkpoint and maxHours",
    ),
    "one hour more than a bound of its own": (
        {"bound": 100, "max_hours": 7},
        "the job takes 16 GPUs for 7 hours and saves nothing; add checkpoint",
    ),
    "data that it only reads": (
        {"max_hours": 72, "data": [{"volume": "checkpoints", "mountPath": "/data"}]},
        "the job takes 16 GPUs for 72 hours and saves nothing; add checkpoint",
    ),
    "a folder that is gone with the pod": (
        {"max_hours": 72, "volumes": [{"name": "out", "emptyDir": {}}]},
        "the job takes 16 GPUs for 72 hours and saves nothing; add checkpoint",
    ),
    "half of it on spot nodes": (
        {**HALF, "cluster": SPOT, "spot": True},
        "the job takes 8 GPUs for 4 hours and saves nothing, and nodes of pool 'gpu' are spot; add checkpoint",
    ),
    "half of it at a low priority": (
        {**HALF, "cluster": within("LowerPriority")},
        (
            "the job takes 8 GPUs for 4 hours and saves nothing, and queue 'research' preempts jobs of lower priority; "
            "add checkpoint"
        ),
    ),
    "half of it beside a queue that reclaims": (
        {**HALF, "cluster": queues(reclaimWithinCohort="Any")},
        (
            "the job takes 8 GPUs for 4 hours and saves nothing, and queue 'other' may take back the quota that it "
            "lends; add checkpoint"
        ),
    ),
}


@pytest.mark.parametrize(("job", "message"), WRONG.values(), ids=WRONG)
def test_a_long_run_that_saves_nothing(job, message):
    """The finding names what the run takes, and what may stop it."""
    job = dict(job)
    cluster = job.pop("cluster", None)
    assert messages(cluster, job.pop("bound", 50), **job) == [message]


RIGHT: dict[str, dict[str, Any]] = {
    "a checkpoint": {"max_hours": 72, "checkpoint": {"volume": "checkpoints", "size": "10Gi"}},
    "three hours": {"max_hours": 3},
    "half of it where nothing stops it": HALF,
    "half of it at the highest priority": {**HALF, "cluster": within("LowerPriority"), "priority": "high"},
    "half of it in a cohort that never reclaims": {**HALF, "cluster": queues()},
    "no GPUs": {"pool": "cpu", "gpus_per_node": None, "cpus_per_node": 4},
    "what serves": {"kind": "LeaderWorkerSet"},
    "a volume that it writes": {
        "max_hours": 72,
        "data": [{"volume": "checkpoints", "mountPath": "/data", "readOnly": False}],
    },
    "a volume of its own": {
        "max_hours": 72,
        "volumes": [{"name": "out", "persistentVolumeClaim": {"claimName": "checkpoints"}}],
    },
    "a bucket in its arguments": {"max_hours": 72, "args": ["--save", "s3://models/run"]},
    "a bucket in its variables": {"max_hours": 72, "env": {"OUT": "gs://models/run"}},
    "keys of a store": {"max_hours": 72, "secrets": {"AWS_ACCESS_KEY_ID": "tokens/key"}},
    "an upload to the hub": {"max_hours": 72, "args": ["--push_to_hub", "True"]},
    "an account of a cloud": {"max_hours": 72, "service_account": "trainer"},
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_a_run_that_saves_or_is_short(job):
    """Where a program may save elsewhere, nothing is said."""
    job = dict(job)
    assert messages(job.pop("cluster", None), **job) == []
