"""Jobs that save to local disks first have the disks, pods that agree, and a volume on which they can commit."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import CPU_NODE, make_cluster, make_job, make_resolved, make_team
from trainyard.judge.preflight.job import flushing
from trainyard.render.sizing.node import size

DISKS = {"size": "2Ti"}
CHECKPOINT = {"volume": "checkpoints", "size": "100Gi", "keep": 2}
BUCKET = {"provisioner": "s3.csi.aws.com", "existing": True}

WITH = "checkpoint.flush does not work with"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "local disks under the kubelet": ({}, {}, []),
    "disks that a storage makes volumes of": ({"localDisks": {**DISKS, "storage": "local"}}, {}, []),
    "one node": ({}, {"nodes": 1}, []),
    "no flush": ({"localDisks": None}, {"flush": None, "launcher": "ray"}, []),
    "a pool without local disks": (
        {"localDisks": None},
        {},
        ["checkpoint.flush saves to local disks, but pool 'cpu' declares no localDisks; remove flush"],
    ),
    "an elastic job": (
        {},
        {"minNodes": 1, "kind": "Job"},
        ["checkpoint.flush does not work with minNodes: new pods would begin at another step; remove flush"],
    ),
    "a kind without an index": (
        {},
        {"kind": "PyTorchJob"},
        [f"{WITH} kind PyTorchJob, whose pods have no JOB_COMPLETION_INDEX; use kind: JobSet"],
    ),
    "a bucket": (
        {},
        {"storage": BUCKET},
        [f"{WITH} Mountpoint for S3, which renames no folder in one piece; use another volume"],
    ),
    "a disk for less than two checkpoints": (
        {},
        {"flush": {"disk": "99Gi"}},
        ["disk is 99Gi, but two checkpoints take 100Gi on each of 2 nodes; raise it"],
    ),
    "a disk for just two": ({}, {"flush": {"disk": "100Gi"}}, []),
    "more than nodes have": (
        {"localDisks": {"size": "500Gi"}},
        {"size": "400Gi"},
        ["checkpoints need 600Gi of local disk, but nodes of pool 'cpu' have 390Gi; save less"],
    ),
}


def resolved(pool: dict[str, Any], job: dict[str, Any]) -> Any:
    """Return a run on a pool of CPUs; what is of the checkpoint goes there."""
    job = dict(job)
    storage = {"shared": job.pop("storage", {"provisioner": "nfs.csi.k8s.io", "parameters": {}, "existing": True})}
    flush = {"flush": job.pop("flush")} if "flush" in job else {"flush": {}}
    checkpoint = {**CHECKPOINT, **{name: job.pop(name) for name in ("size",) if name in job}, **flush}
    if flush["flush"] is None:
        del checkpoint["flush"]
    own = {name: value for name, value in {"localDisks": DISKS, **pool}.items() if value is not None}
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4}, "cpu": {"shape": CPU_NODE, "nodes": 4, **own}}
    storage["local"] = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "existing": True}
    changes = {"pool": "cpu", "nodes": 2, "gpusPerNode": 0, "checkpoint": checkpoint, **job}
    kind = changes.pop("kind", "JobSet") if changes.get("launcher") != "ray" else "RayJob"
    return make_resolved(cluster=make_cluster(pools=pools, storage=storage), team=make_team(), kind=kind, **changes)


@pytest.mark.parametrize(("pool", "job", "messages"), CASES.values(), ids=CASES)
def test_what_is_on_local_disks_reaches_the_volume(pool, job, messages):
    """A job may save to local disks where its pods can agree and bring everything to its volume."""
    assert [finding.message for finding in flushing.check(resolved(pool, job))] == messages


def test_local_checkpoints_are_counted_and_the_program_is_beside_training():
    """Disk, CPUs and memory of the copying are in the pod's requests; training only reads the volume."""
    run = resolved({}, {})
    pod = next(iter(run.kind.build(run))).value()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    restore, keep = pod["initContainers"]
    (trainer,) = pod["containers"]
    assert [restore["command"][-1], keep["command"][-1], keep["restartPolicy"]] == ["restore", "keep", "Always"]
    assert "restartPolicy" not in restore
    assert trainer["resources"]["limits"]["ephemeral-storage"] == "160Gi"
    assert {"name": "local-checkpoints", "emptyDir": {"sizeLimit": "150Gi"}} in pod["volumes"]
    durable = {mount["mountPath"]: mount for mount in trainer["volumeMounts"]}["/durable-checkpoints"]
    assert durable == {
        "name": "claim-checkpoints",
        "mountPath": "/durable-checkpoints",
        "subPath": "train",
        "readOnly": True,
    }
    facts = dict(run.facts())
    assert facts["worker.cpus"].value + 1.5 <= 14
    assert facts["checkpoint.lost_minutes"].value == "99"
    assert "launch.flush.py" in next(
        resource.value()["data"] for resource in run.kind.build(run) if resource.kind == "ConfigMap"
    )


def test_volume_of_local_disks_is_made_for_each_pod():
    """Where a storage makes volumes of the disks, each pod claims one, and the kubelet's disk is not asked for it."""
    run = resolved({"localDisks": {**DISKS, "storage": "local"}}, {})
    pod = next(iter(run.kind.build(run))).value()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "local-checkpoints"]
    spec = volume["ephemeral"]["volumeClaimTemplate"]["spec"]
    assert (spec["storageClassName"], spec["resources"]["requests"]["storage"]) == ("local", "150Gi")
    assert pod["containers"][0]["resources"]["limits"]["ephemeral-storage"] == "10Gi"


SPEEDS = {
    "10Gbps": "not bits; write 1250M",
    "400Gb/s": "not bits; write 50G",
    "8 Gbit/s": "not bits; write 1G",
    "2GB/s": "without 'B' or '/s'; write 2G",
    "1Gi/s": "without 'B' or '/s'; write 1Gi",
    "1GiB": "without 'B' or '/s'; write 1Gi",
    "fast": "must be bytes per second such as 10Gi",
}


@pytest.mark.parametrize(("said", "hint"), SPEEDS.items(), ids=SPEEDS)
def test_a_speed_is_bytes_per_second(said, hint):
    """Speeds as they are sold get what to write instead, bits as bytes."""
    with pytest.raises(ValidationError, match=hint):
        make_job(checkpoint={**CHECKPOINT, "flush": {"bandwidth": said}})


def test_a_speed_is_a_quantity():
    """Quantities are speeds, with their units and without."""
    for said, meant in {"1Gi": "1Gi", "1024Mi": "1Gi", "200G": "200G", 1073741824: "1Gi"}.items():
        flush = make_job(checkpoint={**CHECKPOINT, "flush": {"bandwidth": said}}).checkpoint.flush
        assert size(flush.bandwidth) == size(meant)
