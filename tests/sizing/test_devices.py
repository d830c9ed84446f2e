"""NICs as devices of nodes: names, numbers, and whether the kubelet is told where they hang."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_sizing
from trainyard.base.labels import NETWORKS
from trainyard.render.sizing.fabrics.devices import per_node, reports_numa
from trainyard.specs import Cluster
from trainyard.specs.models.system import System

SRIOV = {"sriov-network-operator": {"version": "1.6.0"}}
OTHERS = {"sriov-network-operator": {"version": "1.6.0", "managed": False}}
ROCE: dict[str, Any] = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["gpu"]}
ONE = {**ROCE, "resources": ["openshift.io/rdma"]}


def cluster(
    *, shape: str = "dgx-h100", policy: str | None = None, operators: dict[str, Any] | None = None, **fabric: Any
) -> Cluster:
    """Return a cluster with that shape and topology policy, and a fabric."""
    kubelet = {"kubelet": {"topologyManagerPolicy": policy, "cpuManagerPolicy": "static"}} if policy else {}
    pools = {"gpu": {"shape": shape, "nodes": 4, **kubelet}, "cpu": {"shape": "cpu-64", "nodes": 2}}
    return make_cluster(pools=pools, fabric=fabric, operators=operators or SRIOV)


TOLD: dict[str, tuple[dict[str, Any], bool]] = {
    "a kubelet that aligns nothing": ({**ROCE}, True),
    "one that tries its best": ({**ROCE, "policy": "best-effort"}, True),
    "one that refuses": ({**ROCE, "policy": "restricted"}, False),
    "one that keeps pods on one node": ({**ROCE, "policy": "single-numa-node"}, False),
    "eight NUMA nodes, whatever the policy": ({**ROCE, "shape": "dgx-a100", "policy": "best-effort"}, False),
    "one resource for all, which is aligned": ({**ONE, "policy": "restricted"}, True),
    "one resource of many functions": ({**ONE, "policy": "restricted", "virtualFunctions": 8}, False),
    "what others advertise": ({**ROCE, "policy": "restricted", "operators": OTHERS}, True),
    "what others are said to exclude": (
        {**ROCE, "policy": "restricted", "operators": OTHERS, "excludeTopology": True},
        False,
    ),
    "what is said of our own": ({**ROCE, "policy": "restricted", "excludeTopology": False}, True),
}


@pytest.mark.parametrize(("changes", "told"), TOLD.values(), ids=TOLD)
def test_devices_tell_their_place_where_that_helps(changes, told):
    """A rail's devices hang on one NUMA node, which a pod of a whole node can never prefer."""
    assert reports_numa(cluster(**changes), "gpu") is told


COUNTS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "a resource a rail": (ROCE, {f"openshift.io/rail_{rail}": 8 for rail in range(8)}),
    "as many functions as the fabric says": (
        {**ROCE, "virtualFunctions": 2},
        {f"openshift.io/rail_{rail}": 2 for rail in range(8)},
    ),
    "one resource, one function a NIC": (ONE, {"openshift.io/rdma": 8}),
    "names of others": (
        {**ROCE, "operators": OTHERS, "resources": ["nvidia.com/rdma-vf"]},
        {"nvidia.com/rdma-vf": 8},
    ),
    "a share of all adapters": (
        {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/ib"], "operators": OTHERS},
        {"rdma/ib": 64},
    ),
}


@pytest.mark.parametrize(("changes", "counts"), COUNTS.values(), ids=COUNTS)
def test_a_node_has_as_many_devices_as_it_advertises(changes, counts):
    """Quota is worked out from these numbers."""
    assert per_node(cluster(**changes), "gpu") == counts


def asked(gpus: int, **changes: Any) -> tuple[dict[str, str], list[str]]:
    """Return the devices and the networks of a pod with that many GPUs."""
    worker = make_sizing(cluster=cluster(**changes), fabric="rdma", gpus_per_node=gpus).worker
    devices = {name: count for name, count in worker.requests().items() if "/" in name and "gpu" not in name}
    listed = worker.fabric.annotations.get(NETWORKS)
    return devices, listed.split(",") if listed else []


def test_one_resource_for_all_is_asked_for_as_often_as_there_are_rails():
    """The i-th network of a pod takes the i-th device, so one network is named as often."""
    assert asked(8, **ONE) == ({"openshift.io/rdma": "8"}, ["rails"] * 8)
    assert asked(4, **ONE) == ({"openshift.io/rdma": "4"}, ["rails"] * 4)


def test_a_share_of_all_adapters_is_asked_for_once():
    """Every slot mounts all adapters (k8s-rdma-shared-dev-plugin), and no network comes with it."""
    shared = {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/ib"], "operators": OTHERS}
    assert asked(8, **shared) == ({"rdma/ib": "1"}, [])


STATED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "the lossless class": ({"trafficClass": 106}, {"NCCL_IB_TC": "106"}),
    "class, lane and GID": (
        {"trafficClass": 41, "fifoTrafficClass": 185, "serviceLevel": 0, "gidIndex": 3},
        {"NCCL_IB_TC": "41", "NCCL_IB_FIFO_TC": "185", "NCCL_IB_SL": "0", "NCCL_IB_GID_INDEX": "3"},
    ),
    "anything else": (
        {"env": {"NCCL_IB_TIMEOUT": "22", "NCCL_NET": "AUTO"}},
        {"NCCL_IB_TIMEOUT": "22", "NCCL_NET": "AUTO"},
    ),
    "nothing": ({}, {}),
}
NAMES = {name for _, expected in STATED.values() for name in expected} - {"NCCL_NET"}


@pytest.mark.parametrize(("fabric", "expected"), STATED.values(), ids=STATED)
def test_what_the_fabric_states_is_in_every_pod_on_it(fabric, expected):
    """And in no pod that trains over the cluster network."""
    on, off = (make_sizing(cluster=cluster(**ROCE, **fabric), fabric=way).worker.env for way in ("rdma", "tcp"))
    assert {name: on[name].value for name in NAMES if name in on} | {"NCCL_NET": on["NCCL_NET"].value} == {
        "NCCL_NET": "IB",
        **expected,
    }
    assert not NAMES & set(off)


@pytest.mark.parametrize(
    ("shape", "driver", "expected"),
    [("mi300x", None, "1"), ("mi300x", "inbox", "1"), ("mi300x", "doca", None), ("dgx-h100", None, None)],
)
def test_collectives_of_amd_reach_gpus_by_dma_buf(shape, driver, expected):
    """RCCL left it off by default, and prefers peer memory, which the vendor's driver has; NCCL finds out itself."""
    on = cluster(shape=shape, **ROCE).model_copy(update={"system": System(nic_driver=driver)})
    env = make_sizing(cluster=on, fabric="rdma").worker.env
    assert (env["NCCL_DMABUF_ENABLE"].value if "NCCL_DMABUF_ENABLE" in env else None) == expected
