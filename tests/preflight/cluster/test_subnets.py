"""Network objects of GKE: rendered where the cluster's file says the subnets, and refused where GKE would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from make import fields, make_cluster, make_source
from trainyard.judge.preflight.cluster import attached
from trainyard.judge.preflight.cluster.subnets import check
from trainyard.render.clusters.gke_networks import KINDS, kinds, resources
from trainyard.specs import Cluster

DAEMON = f"registry.example.com/mirror/daemon:v1@sha256:{'a' * 64}"
RDMA = {f"rdma-{index}": {"vpc": "rdma", "subnet": f"rdma-{index}"} for index in range(8)}
VPCS = {f"vpc{index}": {"vpc": f"gpu-{index}", "subnet": f"nodes-{index}"} for index in range(1, 9)}
GIB = {"type": "gpudirect-rdma", "networks": [*RDMA], "subnets": RDMA}
TCPXO = {"type": "gpudirect-tcpxo", "networks": [*VPCS], "subnets": VPCS, "daemon": DAEMON}
GVNIC = {"vpc": "gvnic", "subnet": "gvnic"}
ROCE = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "trafficClass": 106}


def cluster(fabric: dict[str, Any]) -> Cluster:
    """Return a cluster with a fabric."""
    shape = "gke-a3-megagpu-8g" if fabric["type"] == "gpudirect-tcpxo" else "gke-a3-ultragpu-8g"
    return make_cluster(pools={"gpu": {"shape": shape, "nodes": 2}}, fabric=fabric, queues={}, operators={})


def findings(fabric: dict[str, Any]) -> list[str]:
    """Return the findings on a fabric's networks."""
    source = make_source("platform/clusters/test.yaml", fields({}, {"fabric": fabric}))
    every = [*attached.check(cluster(fabric), source), *check(cluster(fabric), source)]
    return [f"{item.path}: {item.message}" for item in every]


def without(fabric: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    """Return a fabric without one of its subnets, and with others."""
    kept = {key: value for key, value in fabric["subnets"].items() if key != name}
    return {**fabric, "subnets": {**kept, **more}}


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "eight VPCs": (TCPXO, []),
    "eight subnets of one RDMA VPC": (GIB, []),
    "the second gVNIC too": (without(GIB, "", **{"gvnic-1": GVNIC}), []),
    "somebody else makes them": ({**TCPXO, "subnets": {}}, []),
    "one is missing": (
        without(TCPXO, "vpc8"),
        ["fabric.subnets: network 'vpc8' has no entry in subnets; add its VPC and subnet"],
    ),
    "one is misspelt": (
        without(TCPXO, "vpc8", vpc9=VPCS["vpc8"]),
        [
            "fabric.subnets: network 'vpc8' has no entry in subnets; add its VPC and subnet",
            "fabric.subnets.vpc9: network 'vpc9' is not in networks; did you mean 'vpc8'?",
        ],
    ),
    "more than the nodes have": (
        without(GIB, "", **{"gvnic-1": GVNIC, "gvnic-2": {"vpc": "more", "subnet": "more"}}),
        ["fabric.subnets.gvnic-2: network 'gvnic-2' is not in networks; "],
    ),
    "GKE's own": (
        {
            **TCPXO,
            "networks": ["default", *[*VPCS][1:]],
            "subnets": {"default": VPCS["vpc1"], **dict([*VPCS.items()][1:])},
        },
        ["fabric.subnets.default: network 'default' is GKE's own; use another name"],
    ),
    "two plain NICs in one VPC": (
        without(TCPXO, "vpc8", vpc8={"vpc": "gpu-1", "subnet": "other"}),
        ["fabric.subnets.vpc8.vpc: networks 'vpc1' and 'vpc8' are both in VPC 'gpu-1'; give each its own"],
    ),
    "two RDMA NICs in one subnet": (
        without(GIB, "rdma-7", **{"rdma-7": RDMA["rdma-0"]}),
        ["fabric.subnets.rdma-7.subnet: networks 'rdma-0' and 'rdma-7' are both in subnet 'rdma-0'; give each its own"],
    ),
    "the same network twice": (
        {**TCPXO, "networks": [*[*VPCS][:7], "vpc1"], "subnets": {}},
        ["fabric.networks: networks lists 'vpc1' more than once; list one network per NIC"],
    ),
    "a fabric without networks": (
        {**ROCE, "subnets": VPCS},
        ["fabric.subnets: fabric 'roce' has no Network objects; remove subnets"],
    ),
}


@pytest.mark.parametrize(("fabric", "expected"), CASES.values(), ids=CASES)
def test_every_network_has_a_place_of_its_own(fabric, expected):
    """GKE refuses a VPC or subnet that another network has, and pods that name a missing network."""
    found = findings(fabric)
    assert len(found) == len(expected)
    assert all(one.startswith(start) for one, start in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("fabric", "modes"),
    [
        (TCPXO, dict.fromkeys(VPCS, "NetDevice")),
        (without(GIB, "", **{"gvnic-1": GVNIC}), {**dict.fromkeys(RDMA, "RDMA"), "gvnic-1": "NetDevice"}),
    ],
)
def test_each_network_is_two_objects_of_one_name(fabric, modes):
    """Pods name the Network, which leads to VPC, subnet and mode."""
    every = {(item.kind, item.name): item.fields["spec"] for item in resources(cluster(fabric))}
    assert {name: every["GKENetworkParamSet", name]["deviceMode"] for name in modes} == modes
    for name in modes:
        reference = {"group": "networking.gke.io", "kind": "GKENetworkParamSet", "name": name}
        assert every["Network", name] == {"type": "Device", "parametersRef": reference}
        where = fabric["subnets"][name]
        assert (every["GKENetworkParamSet", name]["vpc"], every["GKENetworkParamSet", name]["vpcSubnet"]) == (
            where["vpc"],
            where["subnet"],
        )
    assert len(every) == 2 * len(modes)


def test_a_project_allows_the_kinds_only_where_they_are_ours():
    """Without subnets nothing is rendered, and Argo CD's project does not name the kinds."""
    assert kinds(cluster(TCPXO)) == KINDS
    assert kinds(cluster({**TCPXO, "subnets": {}})) == ()
    assert [*resources(cluster({**TCPXO, "subnets": {}}))] == []
