"""Jobs that stage data have local disks with room for it, and are ready before somebody gives up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from make import CPU_NODE, make_cluster, make_job, make_resolved, make_team
from trainyard.judge.preflight.job import staging
from trainyard.judge.preflight.job.size import check_pods

SHARED = {"provisioner": "nfs.csi.k8s.io", "parameters": {}, "existing": True}
SCRATCH = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "existing": True}
VOLUMES = {"checkpoints": {"storage": "shared", "size": "1Ti"}, "images": {"storage": "shared", "size": "4Ti"}}
DISKS = {"localDisks": {"size": "2Ti"}}
OWN = {"localDisks": {"size": "2Ti", "storage": "local"}}
SLOW = {"shared": {**SHARED, "throughput": "400Mi"}}

BESIDE = "need 2100Gi, but nodes of pool 'cpu' have 2Ti of local disk"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "local disks under the kubelet": (DISKS, {}, []),
    "disks that a storage makes volumes of": (OWN, {}, []),
    "an array, whose pods each copy": (DISKS, {"launcher": "exec", "nodes": 1, "array": {"of": 4}}, []),
    "no stage": ({}, {"size": None}, []),
    "a pool without local disks": (
        {},
        {},
        ["stage copies to local disks, but pool 'cpu' declares no localDisks; remove stage"],
    ),
    "a server that takes root for nobody, and volumes that belong to root": (
        OWN,
        {"storage": {"shared": {**SHARED, "ownership": "server"}}},
        ["volumes of 'local' need an fsGroup, which another volume forbids; remove stage"],
    ),
    "the same server, and folders of the kubelet": (
        DISKS,
        {"storage": {"shared": {**SHARED, "ownership": "server"}}},
        [],
    ),
    "just as much as fits": (OWN, {"size": "1800Gi"}, []),
    "more than nodes have": (
        OWN,
        {"size": "1900Gi"},
        ["staged data need 2090Gi, but nodes of pool 'cpu' have 2Ti of local disk; stage less"],
    ),
    "more than the kubelet's disk beside logs": (
        DISKS,
        {"size": "1860Gi"},
        ["staged data need 2046Gi, but nodes of pool 'cpu' have 1628Gi of local disk; stage less"],
    ),
    "more than fits beside scratch": (
        OWN,
        {"size": "1000Gi", "scratch": {"size": "1000Gi", "medium": "nvme"}},
        [f"staged data, scratch and checkpoints {BESIDE}; stage less"],
    ),
    "scratch on another disk": (OWN, {"size": "1800Gi", "scratch": "100Gi"}, []),
    "a slow server, within Kueue's half hour": (DISKS, {"storage": SLOW, "size": "80Gi"}, []),
    "a slow server, beyond it": (
        DISKS,
        {"storage": SLOW, "size": "100Gi"},
        ["staging takes at least 35 minutes, but Kueue evicts pods that are not ready after 30m0s; stage less"],
    ),
    "a server of which nothing is stated": (OWN, {"size": "1800Gi"}, []),
    "less time than it takes": (
        DISKS,
        {"storage": SLOW, "size": "80Gi", "maxHours": 0.4},
        ["staging takes at least 28 minutes, but maxHours is 0.4; raise maxHours"],
    ),
}


def resolved(pool: dict[str, Any], job: dict[str, Any]) -> Any:
    """Return a run on a pool of CPUs that stages 100Gi, unless `size` says otherwise."""
    job = dict(job)
    storage = {"shared": SHARED, "local": SCRATCH, **job.pop("storage", {})}
    size = job.pop("size", "100Gi")
    data = {"volume": "images", "subPath": "train", "mountPath": "/data"} | ({"stage": {"size": size}} if size else {})
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4}, "cpu": {"shape": CPU_NODE, "nodes": 4, **pool}}
    changes = {"pool": "cpu", "nodes": 2, "gpusPerNode": 0, "data": [data], **job}
    return make_resolved(
        cluster=make_cluster(pools=pools, storage=storage, operators=OPERATORS),
        team=make_team(volumes=VOLUMES),
        **changes,
    )


OPERATORS = {
    "kueue": {"version": "0.19.2"},
    "jobset": {"version": "0.12.0"},
    "kuberay": {"version": "1.6.2"},
    "mpi-operator": {"version": "0.8.0"},
    "trainer": {"version": "2.3.0"},
    "gpu-operator": {"version": "26.7.0", "managed": False},
}


@pytest.mark.parametrize(("pool", "job", "messages"), CASES.values(), ids=CASES)
def test_staged_data_has_room_and_time(pool, job, messages):
    """A job may stage data where its pods have room for it, and where it is ready in time."""
    assert [finding.message for finding in staging.check(resolved(pool, job))] == messages


def specs_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every pod's spec in an object."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        for inner in value.values():
            yield from specs_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from specs_of(inner)


KINDS = {
    "torchrun": "JobSet",
    "torchrun of Trainer": "TrainJob",
    "ray": "RayJob",
    "mpirun": "MPIJob",
    "exec": "Job",
    "tensorflow": "JobSet",
}


@pytest.mark.parametrize(("launcher", "kind"), KINDS.items(), ids=KINDS)
def test_every_pod_that_trains_copies_first(launcher, kind):
    """Whoever starts the program, a pod sees the copy alone, and a container before it makes that."""
    start = {"program": None, "command": ["train"]} if launcher == "exec" else {}
    run = resolved(DISKS, {"launcher": launcher.split()[0], "kind": kind, **start})
    objects = [json.loads(json.dumps(resource.value())) for resource in run.kind.build(run)]
    pods = list(specs_of(objects))
    train = [pod for pod in pods if "/data" in json.dumps(pod["containers"])]
    assert train
    for pod in train:
        (stage,) = [one for one in pod["initContainers"] if one["name"] == "stage-data"]
        mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
        copied = {"name": "staged-data", "mountPath": "/data", "subPath": "data-0", "readOnly": True}
        assert mounts["/data"] == copied
        assert "claim-images" not in {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        source = {mount["mountPath"]: mount for mount in stage["volumeMounts"]}["/stage-from/data-0"]
        assert source == {
            "name": "claim-images",
            "mountPath": source["mountPath"],
            "readOnly": True,
            "subPath": "train",
        }
        cpus = int(pod["containers"][0]["resources"]["requests"]["cpu"])
        assert int(stage["resources"]["limits"]["cpu"]) <= cpus
        named = {volume["name"]: volume for volume in pod["volumes"]}
        assert named["staged-data"] == {"name": "staged-data", "emptyDir": {"sizeLimit": "110Gi"}}
        assert named["stage"]["configMap"]["items"] == [{"key": "launch.stage.py", "path": "stage.py"}]
    assert any("launch.stage.py" in one.get("data", {}) for one in objects)


def test_a_copy_is_counted_as_local_disk():
    """The kubelet's disk is asked for the copy; a volume of a storage is claimed instead, and two pods share a node."""
    shown = dict(resolved(DISKS, {}).facts())
    assert shown["worker.storage"].value == "120Gi"
    assert shown["stage.minutes"].value == "1"
    own = resolved(OWN, {"size": "1000Gi", "nodes": 8, "cpusPerNode": 6, "memoryPerNode": "8Gi"})
    assert dict(own.facts())["worker.storage"].value == "10Gi"
    assert [finding.message for finding in check_pods(own)] == ["nodes is 8, but pool 'cpu' has 4 nodes; use at most 4"]


@pytest.mark.parametrize("also", [{"readOnly": False}], ids=["written"])
def test_what_is_staged_is_only_read(also):
    """What the program writes into a copy would be lost with the pod."""
    with pytest.raises(ValidationError, match="ends with the pod"):
        make_job(data=[{"volume": "images", "mountPath": "/data", "stage": {"size": "1Gi"}, **also}])
    with pytest.raises(ValidationError, match="add mountPath"):
        make_job(buckets=[{"bucket": "frames", "stage": {"size": "1Gi"}}])
