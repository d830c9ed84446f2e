"""Pods on EFA get whole devices of the node, and memory in huge pages where the node sets some aside."""

from __future__ import annotations

from fractions import Fraction

import pytest

from make import make_cluster, make_sizing
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.machines import available, machine
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Cluster, Quota
from trainyard.specs.shapes import preset

POOLS = {"gpu": {"shape": "aws-p5-48xlarge", "nodes": 4}, "cpu": {"shape": "cpu-64", "nodes": 2}}
PLAIN = preset("aws-p5-48xlarge").model_dump(by_alias=True, exclude={"huge_pages"})


def cluster(**changes: object) -> Cluster:
    """Return a cluster of p5 nodes with EFA."""
    return make_cluster(**{"pools": POOLS, "fabric": {"type": "efa"}, **changes})


SHARES = {
    "a whole node has all": (8, "32", "5Gi"),
    "half a node has half": (4, "16", "2560Mi"),
    "one GPU has an eighth": (1, "4", "640Mi"),
}


@pytest.mark.parametrize(("gpus", "devices", "pages"), SHARES.values(), ids=SHARES)
def test_devices_follow_the_gpus(gpus, devices, pages):
    """Devices and huge pages are the pod's share of the node's, and NCCL is told nothing that its plugin knows."""
    worker = make_sizing(cluster=cluster(), gpus_per_node=gpus, fabric="rdma").worker
    asked = worker.requests()
    assert (asked["vpc.amazonaws.com/efa"], asked["hugepages-2Mi"]) == (devices, pages)
    assert not {name for name in worker.env if name.startswith(("FI_", "NCCL_IB"))}
    assert worker.fabric.annotations == {}


def test_a_missing_plugin_ends_the_run_at_once():
    """NCCL takes the named network or fails; it never trains over TCP because an image lacks aws-ofi-nccl."""
    assert make_sizing(cluster=cluster(), fabric="rdma").worker.env["NCCL_NET"].value == "AWS Libfabric"


def test_a_job_over_tcp_asks_for_none():
    """Whoever trains over the cluster network leaves the devices to others."""
    worker = make_sizing(cluster=cluster(), fabric="tcp").worker
    assert not {"vpc.amazonaws.com/efa", "hugepages-2Mi"} & set(worker.requests())
    assert "NCCL_NET" not in worker.env


def test_without_huge_pages_libfabric_is_told():
    """Its buffers come from plain memory then."""
    pools = {**POOLS, "gpu": {"shape": PLAIN, "nodes": 4}}
    worker = make_sizing(cluster=cluster(pools=pools), fabric="rdma").worker
    assert worker.env["FI_EFA_USE_HUGE_PAGE"].value == "0"
    assert "hugepages-2Mi" not in worker.requests()


def test_memory_in_huge_pages_is_no_other_memory():
    """The kubelet offers a node's memory less all huge pages."""
    pools = {**POOLS, "gpu": {"shape": PLAIN, "nodes": 4}}
    with_pages, without = (available(item.pools["gpu"]).memory for item in (cluster(), cluster(pools=pools)))
    assert without - with_pages == 10256 * 2**20


def test_quota_covers_devices_and_huge_pages():
    """A resource that no queue covers would keep the job waiting for ever."""
    assert machine(cluster(), "gpu").for_jobs["vpc.amazonaws.com/efa"] == Fraction(32)
    found = amounts(cluster(), "gpu", Quota(gpus=16))
    assert (found["vpc.amazonaws.com/efa"], found["hugepages-2Mi"]) == ("64", "20512Mi")


def test_nodes_without_devices_are_off_the_fabric():
    """A shape that has no EFA devices reaches nothing."""
    assert [fabric_type(cluster()).reaches(cluster(), name) for name in ("gpu", "cpu")] == [True, False]
