"""Local disk that a job asks for is there, and volumes of it are made on the node of their pod."""

from __future__ import annotations

from typing import Any

import pytest

from make import CPU_NODE, fields, make_cluster, make_resolved, make_source
from trainyard.base.quantities import Quantity
from trainyard.judge.preflight.cluster import disks as of_clusters
from trainyard.judge.preflight.job import disks, size
from trainyard.specs import Cluster
from trainyard.specs.shapes import names, preset

NVME = {"size": "100Gi", "medium": "nvme"}
LOCAL = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "existing": True, "binding": "WaitForFirstConsumer"}


def cluster(*, storage: dict[str, Any] | None = None, **pool: Any) -> Cluster:
    """Return a cluster whose pool `cpu` is as said, with a storage of local disks."""
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4}, "cpu": {"shape": CPU_NODE, "nodes": 4, **pool}}
    return make_cluster(pools=pools, storage={"local": LOCAL | (storage or {})})


BY_CLAIM = cluster(localDisks={"size": "2Ti", "storage": "local"})
UNDER_KUBELET = cluster(localDisks={"size": "2Ti"})
SCRATCH: dict[str, tuple[Cluster, dict[str, Any], list[tuple[str, str]]]] = {
    "a size": (cluster(), {"scratch": "150Gi"}, []),
    "more than the shape's disk": (
        cluster(),
        {"scratch": "151Gi"},
        [("scratch", "scratch is 151Gi, but nodes of pool 'cpu' have 150Gi; lower it")],
    ),
    "a disk that the pool declares": (cluster(disk="1000Gi"), {"scratch": "790Gi"}, []),
    "more than the pool declares": (
        cluster(disk="1000Gi"),
        {"scratch": {"size": "791Gi"}},
        [("scratch.size", "scratch is 791Gi, but nodes of pool 'cpu' have 790Gi; lower it")],
    ),
    "NVMe that nobody declares": (
        cluster(disk="1000Gi"),
        {"scratch": NVME},
        [("scratch.medium", "scratch is on nvme, but pool 'cpu' declares no localDisks; write scratch: 100Gi")],
    ),
    "all NVMe of a node": (BY_CLAIM, {"scratch": {**NVME, "size": "2Ti"}}, []),
    "more NVMe than a node has": (
        BY_CLAIM,
        {"scratch": {**NVME, "size": "3Ti"}},
        [("scratch.size", "scratch is 3Ti, but nodes of pool 'cpu' have 2Ti; lower it")],
    ),
    "the system's disk beside NVMe": (
        BY_CLAIM,
        {"scratch": "1Ti"},
        [("scratch", "scratch is 1Ti, but nodes of pool 'cpu' have 150Gi; lower it")],
    ),
    "NVMe under the kubelet": (UNDER_KUBELET, {"scratch": {**NVME, "size": "1628Gi"}}, []),
    "the same by its size alone": (UNDER_KUBELET, {"scratch": "1628Gi"}, []),
    "images and logs share it": (
        UNDER_KUBELET,
        {"scratch": {**NVME, "size": "1629Gi"}},
        [("scratch.size", "scratch is 1629Gi, but nodes of pool 'cpu' have 1628Gi; lower it")],
    ),
    "no room for logs": (
        cluster(shape=fields(CPU_NODE, {"ephemeralStorage": "12Gi"})),
        {},
        [("pool", "nodes of pool 'cpu' have 9830Mi of local disk, but a pod needs 10Gi; use another pool")],
    ),
}


@pytest.mark.parametrize(("cluster", "job", "expected"), SCRATCH.values(), ids=SCRATCH)
def test_scratch_is_there(cluster, job, expected):
    """What a pod asks for is held against the disk that it comes from."""
    run = make_resolved(cluster=cluster, pool="cpu", gpus_per_node=None, **job)
    found = list(disks.check(run))
    assert [(item.path, item.message) for item in found] == expected
    assert all(item.location.line for item in found)


def test_pods_share_the_local_disks_of_their_node():
    """No resource counts them, so the pods that a pool can hold are counted by them here."""
    small = {"pool": "cpu", "gpus_per_node": None, "cpus_per_node": 1, "memory_per_node": "1Gi", "nodes": 8}
    fits = make_resolved(cluster=BY_CLAIM, scratch={**NVME, "size": "1Ti"}, **small)
    assert list(size.check_pods(fits)) == []
    crowded = make_resolved(cluster=BY_CLAIM, scratch={**NVME, "size": "1.5Ti"}, **small)
    (finding,) = size.check_pods(crowded)
    assert finding.message == "nodes is 8, but pool 'cpu' has 4 nodes; use at most 4"


POOLS: dict[str, tuple[Cluster, list[str]]] = {
    "volumes on the node of their pod": (BY_CLAIM, []),
    "folders of the kubelet's": (UNDER_KUBELET, []),
    "a storage that is not there": (
        cluster(localDisks={"size": "2Ti", "storage": "locl"}),
        ["storage 'locl' does not exist; did you mean 'local'?"],
    ),
    "one that binds at once": (
        cluster(localDisks={"size": "2Ti", "storage": "local"}, storage={"binding": "Immediate"}),
        ["storage 'local' binds claims before the pod has a node; set binding: WaitForFirstConsumer"],
    ),
    "one of all nodes": (
        cluster(localDisks={"size": "2Ti", "storage": "local"}, storage={"access": "ReadWriteMany"}),
        ["storage 'local' is ReadWriteMany, but a disk belongs to one node; set access: ReadWriteOnce"],
    ),
}


@pytest.mark.parametrize(("cluster", "messages"), POOLS.values(), ids=POOLS)
def test_local_disks_have_a_storage_that_waits_for_pods(cluster, messages):
    """A claim that is bound first may be bound to the disk of another node."""
    value = cluster.model_dump(by_alias=True, exclude_unset=True, mode="json")
    found = list(of_clusters.check(cluster, make_source("platform/clusters/test.yaml", value)))
    assert [item.message for item in found] == messages
    assert all(item.location.line for item in found)


SIZES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "what the machine has": ({"shape": "gke-a3-megagpu-8g", "localDisks": {"size": "5800Gi"}}, []),
    "all of its disks": ({"shape": "gke-a3-megagpu-8g", "localDisks": {"size": "6000Gi"}}, []),
    "twice what it has": (
        {"shape": "gke-a3-megagpu-8g", "localDisks": {"size": "12000Gi"}},
        ["size is 12000Gi, but nodes of pool 'gpu' have 6000Gi of local disks; use a smaller size"],
    ),
    "a machine that comes with the disks that one buys": ({"shape": "dgx-h100", "localDisks": {"size": "60Ti"}}, []),
    "a machine to which disks are attached": ({"shape": "gke-a2-highgpu-8g", "localDisks": {"size": "3Ti"}}, []),
    "no local disks": ({"shape": "gke-a3-megagpu-8g"}, []),
}


@pytest.mark.parametrize(("pool", "messages"), SIZES.values(), ids=SIZES)
def test_local_disks_are_no_larger_than_the_machine_has(pool, messages):
    """Where the disks of a machine are known, a pool cannot have more; on other machines nothing is said."""
    pools = {"gpu": {"nodes": 4, **pool}}
    source = make_source("platform/clusters/test.yaml", {"pools": pools})
    found = list(of_clusters.check_sizes(make_cluster(pools=pools), source))
    assert [item.message for item in found] == messages
    assert all(item.path == "pools.gpu.localDisks.size" and item.location.line for item in found)


def test_a_shape_has_room_for_its_own_storage():
    """The file system of the kubelet's folder fits on the disks, where it is on them."""
    known = {name: shape for name in names() if (shape := preset(name)).local_storage}
    assert "aws-p5-48xlarge" in known
    for shape in known.values():
        assert Quantity.parse(shape.ephemeral_storage) < Quantity.parse(shape.local_storage)
