"""A shape that does not exist is told at the pool that names it, whatever else the cluster has."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import call
from make import CLUSTER, CPU_NODE, fields, make_cluster, make_source, write_repository
from repo import Repo
from trainyard.judge.preflight.cluster.inventory import check

POOLS = {"gpu": {"shape": "dgx-h1000", "nodes": 4, "racks": 2}, "cpu": {"shape": CPU_NODE, "nodes": 4}}
ROCE = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "memlock": "node"}

CLUSTERS = {
    "no fabric": {},
    "a fabric that names its pools": {"fabric": {**ROCE, "pools": ["gpu"]}},
    "a fabric of all pools": {"fabric": ROCE},
    "a fabric of all pools with networks": {"fabric": {**ROCE, "vlans": {"nlp": 402}}},
    "a fabric of the nodes' own network": {"fabric": {"type": "roce", "attach": "host"}},
    "a fabric of a cloud": {"fabric": {"type": "efa"}},
}


@pytest.mark.parametrize("changes", CLUSTERS.values(), ids=CLUSTERS)
def test_a_misspelt_shape_has_a_line(tmp_path: Path, changes: dict[str, object]) -> None:
    """No command ends without a place, and the nearest name is proposed."""
    root = write_repository(tmp_path, clusters={"test": fields(CLUSTER, {"pools": POOLS, **changes})})
    Repo(root).commit()
    for command in (["check"], ["explain", "nlp/train"], ["plan"], ["synth"]):
        done = call(root, *command)
        said = f"{done.stdout}{done.stderr}"
        assert done.returncode == 1, said
        assert "shape 'dgx-h1000' does not exist; did you mean 'dgx-h100'? [spec/unknown-shape]" in said
        assert "platform/clusters/test.yaml:" in said
        assert "Traceback" not in said


LEVELS = [{"block": "example.com/block"}, {"rack": "example.com/rack"}]
RACKED = {"shape": "dgx-h100", "nodes": 8, "racks": 4}
BLOCKS = {
    "racks, and no word of blocks": (LEVELS, RACKED, True),
    "two blocks": (LEVELS, {**RACKED, "blocks": 2}, False),
    "one block, stated": (LEVELS, {**RACKED, "blocks": 1}, False),
    "one rack is in one block": (LEVELS, {**RACKED, "racks": 1}, False),
    "a pool that says nothing of racks": (LEVELS, {"shape": "dgx-h100", "nodes": 8}, False),
    "a topology of racks alone": ([{"rack": "example.com/rack"}], RACKED, False),
    "a level above racks that is no block": ([{"zone": "example.com/zone"}, LEVELS[1]], RACKED, False),
}


@pytest.mark.parametrize(("topology", "pool", "warned"), BLOCKS.values(), ids=BLOCKS)
def test_racks_are_in_blocks_that_somebody_counted(topology, pool, warned):
    """A pool of several racks states its blocks where the topology has both levels."""
    cluster = make_cluster(topology=topology, pools={"gpu": pool})
    source = make_source("platform/clusters/test.yaml", {"pools": {"gpu": pool}})
    found = [(one.rule, one.path, one.message) for one in check(cluster, source)]
    message = "4 racks count as one block, because blocks is not set; write how many blocks they form"
    assert found == ([("spec/blocks-unset", "pools.gpu.racks", message)] if warned else [])


INTERFACES: dict[str, tuple[list[str], str | None]] = {
    "network devices": ([f"ens{index}np0" for index in range(8)], None),
    "network devices of InfiniBand, which may be called as their RDMA devices": (
        [f"ibp{index}s0" for index in range(8)],
        None,
    ),
    "network devices that a rule has renamed": ([f"mlx{index}" for index in range(8)], None),
    "RDMA devices": ([f"mlx5_{index}" for index in range(8)], "mlx5_0"),
    "RDMA devices of Broadcom": ([f"bnxt_re{index}" for index in range(8)], "bnxt_re0"),
    "RDMA devices that udev has renamed": ([f"rocep{index}s0" for index in range(8)], "rocep0s0"),
}


@pytest.mark.parametrize(("names", "wrong"), INTERFACES.values(), ids=INTERFACES)
def test_interfaces_are_network_devices(names, wrong):
    """The name of an RDMA device selects nothing, and the finding says where the right one is written."""
    pool = {"shape": "hgx-h100", "nodes": 4, "interfaces": names}
    source = make_source("platform/clusters/test.yaml", {"pools": {"gpu": pool}})
    found = [(one.path, one.message) for one in check(make_cluster(topology=None, pools={"gpu": pool}), source)]
    message = (
        f"{wrong!r} is an RDMA device, but interfaces lists network devices; use the name in "
        f"/sys/class/infiniband/{wrong}/device/net"
    )
    assert found == ([("pools.gpu.interfaces[0]", message)] if wrong else [])


MTUS: dict[str, tuple[dict[str, object], bool]] = {
    "RoCE": ({**ROCE, "mtu": 9000}, False),
    "InfiniBand": ({"type": "infiniband", "attach": "rdma-shared", "mtu": 4092}, False),
    "no fabric": ({"type": "none", "attach": "none", "mtu": 9000}, False),
    "EFA that says nothing": ({"type": "efa"}, False),
    "EFA": ({"type": "efa", "mtu": 9000}, True),
    "GPUDirect": ({"type": "gpudirect-tcpxo", "mtu": 8244}, True),
}


@pytest.mark.parametrize(("fabric", "warned"), MTUS.values(), ids=MTUS)
def test_an_mtu_that_reaches_nothing_is_told(fabric, warned):
    """Clouds set the MTU of their networks, and no object of a cluster does."""
    source = make_source("platform/clusters/test.yaml", {"fabric": fabric})
    found = [one.message for one in check(make_cluster(fabric=fabric), source) if one.path == "fabric.mtu"]
    message = f"mtu is {fabric.get('mtu')}, but the cloud's network decides it for fabric {fabric['type']!r}; remove it"
    assert found == ([message] if warned else [])
