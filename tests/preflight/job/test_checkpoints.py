"""A run has the time to save a checkpoint, and its volume the room, or a finding says what to change."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_run
from trainyard.judge.preflight.jobs import check_run

SHARED = {"provisioner": "csi.example.com", "access": "ReadWriteMany"}


def messages(**job: object) -> list[str]:
    """Return the sentences about everything that is wrong with a run."""
    return [finding.message for finding in check_run(make_run(**job))[1]]


def test_a_grace_that_ends_in_the_middle_of_a_save():
    """Where the cluster says how fast its storage is, a grace of the job's own is held against it."""
    job = {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}, "grace_seconds": 31}
    assert messages(cluster=make_cluster(storage={"shared": {**SHARED, "throughput": "1Gi"}}), **job) == [
        "graceSeconds is 31, but one step and saving 10Gi take 70 seconds; raise or remove it"
    ]
    assert messages(cluster=make_cluster(storage={"shared": SHARED}), **job) == []


def test_a_volume_holds_one_checkpoint_more_than_are_kept():
    """The new one is written before the oldest goes: here three are kept, where two fit."""
    assert messages(checkpoint={"volume": "checkpoints", "size": "500Gi"}) == [
        "volume 'checkpoints' of 1Ti is too small for keep + 1 = 4 checkpoints of 500Gi; lower keep"
    ]
    assert messages(checkpoint={"volume": "checkpoints", "size": "100Gi"}) == []


DEADLINES: dict[str, tuple[dict[str, Any], float | None, int]] = {
    "after the end": ({"everyMinutes": 600}, 1, 1),
    "at the end": ({"everyMinutes": 60}, 1, 1),
    "before the end": ({"everyMinutes": 59}, 1, 0),
    "in time": ({"everyMinutes": 20}, 0.5, 0),
    "nobody says how often": ({}, 0.25, 0),
    "no end": ({"everyMinutes": 600}, None, 0),
}


@pytest.mark.parametrize(("checkpoint", "hours", "expected"), DEADLINES.values(), ids=DEADLINES)
def test_a_deadline_comes_after_the_first_save(checkpoint, hours, expected):
    """What a job says of both is held together; what it leaves out is the program's own way of saving."""
    job = {"checkpoint": {"volume": "checkpoints", "size": "1Gi", **checkpoint}, "max_hours": hours}
    found = [item for item in check_run(make_run(**job))[1] if item.rule == "ckp-deadline"]
    assert [item.path for item in found] == ["checkpoint.everyMinutes"] * expected


SPOT: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a grace that nobody gets": (
        {"grace_seconds": 31},
        {},
        ["graceSeconds is 31, but nodes of pool 'gpu' disappear 30 seconds after their notice; remove or lower it"],
    ),
    "a grace that every pod gets": ({"grace_seconds": 30}, {}, []),
    "a longer one where the notice is": ({"grace_seconds": 100}, {"noticeSeconds": 120}, []),
    "a save that takes longer": (
        {"checkpoint": {"volume": "checkpoints", "size": "16Gi"}},
        {},
        [
            (
                "saving 16Gi takes 64 seconds, but nodes of pool 'gpu' disappear 30 seconds after their notice; make "
                "the checkpoint smaller"
            )
        ],
    ),
    "a save that is done in time": ({"checkpoint": {"volume": "checkpoints", "size": "7Gi"}}, {}, []),
    "nodes that stay": ({"grace_seconds": 600}, {"spot": False}, []),
}


@pytest.mark.parametrize(("job", "pool", "expected"), SPOT.values(), ids=SPOT)
def test_a_run_on_spot_nodes_ends_before_they_do(job, pool, expected):
    """A grace or a save that outlasts the provider's notice is said; what follows by itself never does."""
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4, "spot": True, **pool}, "cpu": CLUSTER["pools"]["cpu"]}
    cluster = make_cluster(pools=pools, storage={"shared": {**SHARED, "throughput": "1Gi"}})
    found = check_run(make_run(cluster=cluster, spot=True, **job))[1]
    assert [item.message for item in found if item.rule == "ft-spot-elastic"] == expected


def test_nothing_is_said_of_a_save_at_a_speed_that_nobody_stated():
    """A class without a throughput is taken to be slow, which would be a false alarm here."""
    pools = {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 4, "spot": True}}
    cluster = make_cluster(pools=pools, storage={"shared": SHARED})
    assert messages(cluster=cluster, spot=True, checkpoint={"volume": "checkpoints", "size": "100Gi"}) == []
