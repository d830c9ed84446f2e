"""A run has the time to save a checkpoint, and its volume the room, or a finding says what to change."""

from __future__ import annotations

from make import make_cluster, make_run
from trainyard.preflight.jobs import check_run

SHARED = {"provisioner": "csi.example.com", "access": "ReadWriteMany"}


def messages(**job: object) -> list[str]:
    """Return the sentences about everything that is wrong with a run."""
    return [finding.message for finding in check_run(make_run(**job))[1]]


def test_a_grace_that_ends_in_the_middle_of_a_save():
    """Where the cluster says how fast its storage is, a grace of the job's own is held against it."""
    job = {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}, "grace_seconds": 31}
    assert messages(cluster=make_cluster(storage={"shared": {**SHARED, "throughput": "1Gi"}}), **job) == [
        "graceSeconds is 31, but a step and saving 10Gi take 70; remove or raise it"
    ]
    assert messages(cluster=make_cluster(storage={"shared": SHARED}), **job) == []


def test_a_volume_holds_one_checkpoint_more_than_are_kept():
    """The new one is written before the oldest goes: here three are kept, where two fit."""
    assert messages(checkpoint={"volume": "checkpoints", "size": "500Gi"}) == [
        "volume 'checkpoints' of 1Ti is too small for keep + 1 = 4 checkpoints of 500Gi; lower keep"
    ]
    assert messages(checkpoint={"volume": "checkpoints", "size": "100Gi"}) == []
