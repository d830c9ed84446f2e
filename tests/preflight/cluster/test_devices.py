"""NICs as devices: whose names pods ask for, how policies find them, and what they tell the kubelet."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.judge.preflight.cluster.devices import check

FABRIC: dict[str, Any] = EVERYTHING["fabric"]
POOLS: dict[str, Any] = EVERYTHING["pools"]
INFINIBAND: dict[str, Any] = {"type": "infiniband", "attach": "rdma-shared", "pools": ["h100"], "subnetManager": "UFM"}
FOREIGN = {**OPERATORS, "sriov-network-operator": {"version": "1.6.0", "managed": False}}
NVIDIA = {name: choice for name, choice in OPERATORS.items() if name != "sriov-network-operator"}
NAMES = [f"ens{rail}np0" for rail in range(8)]
SHIFTED = [f"0000:{bus}:00.0" for bus in ("40", "18", "4f", "5e", "9a", "c0", "ce", "dc")]
EIGHT = [f"example.com/nic_{rail}" for rail in range(8)]


def site(*, shape: str = "dgx-h100", policy: str = "restricted", **pool: Any) -> dict[str, Any]:
    """Return the pools, where the one on the fabric has another shape, policy or NICs."""
    kubelet = {**POOLS["h100"]["kubelet"], "topologyManagerPolicy": policy}
    return {**POOLS, "h100": {**POOLS["h100"], "shape": shape, "kubelet": kubelet, **pool}}


WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "devices of somebody else without names": (
        {"operators": FOREIGN, "fabric": {**FABRIC, "excludeTopology": True}},
        [
            (
                "error rdma-resource-foreign fabric.attach",
                "attach is 'sriov', and another operator advertises the NICs; set resources to their names",
            )
        ],
    ),
    "fewer names than rails": (
        {"operators": FOREIGN, "fabric": {**FABRIC, "excludeTopology": True, "resources": EIGHT[:3]}},
        [
            (
                "error rdma-resource-foreign fabric.resources",
                "resources has 3 names for 8 rails; use one for all, or one per rail",
            )
        ],
    ),
    "a name under another prefix": (
        {"fabric": {**FABRIC, "resources": ["nvidia.com/nics"]}},
        [
            (
                "error rdma-resource-prefix fabric.resources[0]",
                (
                    "resource 'nvidia.com/nics' is not advertised by sriov-network-operator; write openshift.io/ "
                    "and letters or '_'"
                ),
            )
        ],
    ),
    "a name with a dash": (
        {"fabric": {**FABRIC, "resources": ["openshift.io/rdma-vf"]}},
        [
            (
                "error rdma-resource-prefix fabric.resources[0]",
                (
                    "resource 'openshift.io/rdma-vf' is not advertised by sriov-network-operator; write "
                    "openshift.io/ and letters or '_'"
                ),
            )
        ],
    ),
    "NICs that nothing selects": (
        {"pools": site(shape="hgx-h100")},
        [
            (
                "error rdma-pfnames-netdev pools.h100",
                "pool 'h100' needs pci or interfaces for attach 'sriov'; list one for each NIC of a node",
            )
        ],
    ),
    "addresses that nobody has seen": (
        {"pools": site(shape="dgx-a100")},
        [
            (
                "warning rdma-pfnames-netdev pools.h100.shape",
                "PCI addresses of shape 'dgx-a100' are assumed; set pci to those of your nodes",
            )
        ],
    ),
    "a network on a NIC without a name": (
        {"fabric": {**FABRIC, "attach": "macvlan", "resources": ["rdma/shared"]}, "operators": FOREIGN},
        [
            (
                "error rdma-pfnames-netdev pools.h100",
                "pool 'h100' needs interfaces for attach 'macvlan'; list one for each NIC of a node",
            )
        ],
    ),
    "shared NICs of a type that nobody stated": (
        {"fabric": {**INFINIBAND, "resources": ["rdma/nics"]}, "operators": NVIDIA, "pools": site(shape="hgx-a100")},
        [
            (
                "error rdma-pfnames-netdev pools.h100",
                "pool 'h100' needs nicType for attach 'rdma-shared'; write what `lspci -n` prints",
            )
        ],
    ),
    "shared NICs of each rail without names": (
        {"fabric": INFINIBAND, "operators": NVIDIA, "pools": site(shape="dgx-h100")},
        [
            (
                "error rdma-pfnames-netdev pools.h100",
                "pool 'h100' needs interfaces for attach 'rdma-shared'; list one for each NIC of a node",
            )
        ],
    ),
    "one address on two rails": (
        {
            "operators": NVIDIA,
            "fabric": {**FABRIC, "attach": "hostdev", "pools": ["h100", "other"]},
            "pools": {**POOLS, "other": {**POOLS["h100"], "pci": SHIFTED}},
        },
        [
            (
                "error rdma-pfnames-netdev pools.other",
                "0000:40:00.0 is on rail 1 of pool 'h100', but on rail 0 of pool 'other'",
            )
        ],
    ),
    "one rail of two names": (
        {
            "operators": NVIDIA,
            "fabric": {**FABRIC, "attach": "macvlan", "pools": ["h100", "other"]},
            "pools": {**site(interfaces=NAMES), "other": {**POOLS["h100"], "interfaces": [f"x{n}" for n in NAMES]}},
        },
        [
            (
                "error rdma-pfnames-netdev pools.other",
                "rail 0 is ens0np0 in pool 'h100', but xens0np0 in 'other'; use the same device name",
            )
        ],
    ),
    "devices of somebody else that the kubelet aligns": (
        {"operators": FOREIGN, "fabric": {**FABRIC, "resources": EIGHT}},
        [
            (
                "error numa-vf-excluded fabric.attach",
                (
                    "kubelets of pool 'h100' use 'restricted' and reject pods because of the NICs' NUMA nodes; "
                    "set excludeTopology: true"
                ),
            )
        ],
    ),
    "devices that are told to be aligned": (
        {"fabric": {**FABRIC, "excludeTopology": False}},
        [
            (
                "error numa-vf-excluded fabric.excludeTopology",
                (
                    "kubelets of pool 'h100' use 'restricted' and reject pods because of the NICs' NUMA nodes; "
                    "set excludeTopology: true"
                ),
            )
        ],
    ),
    "eight rails on eight NUMA nodes": (
        {
            "fabric": {**FABRIC, "excludeTopology": False},
            "pools": site(shape="dgx-a100", policy="best-effort", pci=[f"0000:{rail:02x}:00.0" for rail in range(8)]),
        },
        [
            (
                "error numa-hint-explosion fabric.excludeTopology",
                "devices of 8 rails on pool 'h100' give the kubelet too many combinations; set excludeTopology: true",
            )
        ],
    ),
}

RIGHT: dict[str, dict[str, Any]] = {
    "our own, by addresses that are known": {},
    "our own, by network devices": {"pools": site(shape="hgx-h100", interfaces=[f"ens{n}np0" for n in range(8)])},
    "our own, by addresses of the nodes": {
        "pools": site(shape="hgx-h100", pci=[f"0000:{n:02x}:00.0" for n in range(8)])
    },
    "somebody else's, named and not aligned": {
        "operators": FOREIGN,
        "fabric": {**FABRIC, "resources": EIGHT, "excludeTopology": True},
    },
    "shared NICs of a type": {
        "operators": NVIDIA,
        "fabric": {**INFINIBAND, "resources": ["rdma/nics"]},
        "pools": site(shape="hgx-h100", nicType="1021"),
    },
    "somebody else's under one name": {
        "operators": FOREIGN,
        "fabric": {**FABRIC, "resources": ["nvidia.com/rdma-vf"]},
    },
    "aligned by a kubelet that refuses nothing": {
        "fabric": {**FABRIC, "excludeTopology": False},
        "pools": site(policy="best-effort"),
    },
    "one name for all, aligned": {"fabric": {**FABRIC, "resources": ["openshift.io/rdma"]}},
    "nobody to attach pods yet, which is said by itself": {"operators": {"kueue": {"version": "0.19.2"}}},
    "a fabric that pods are not attached to": {"fabric": {"type": "roce"}, "pools": site(shape="hgx-h100")},
}


@pytest.mark.parametrize(("changes", "expected"), WRONG.values(), ids=WRONG)
def test_devices_that_pods_would_never_get_are_reported(changes, expected):
    """Each at the field to change, in a short sentence."""
    found = list(check(everything(**changes), source(**changes)))
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == expected
    assert all(item.location.line and len(item.message.split()) <= 20 for item in found)


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_devices_that_pods_get_are_fine(changes):
    """Near cases of the above."""
    assert list(check(everything(**changes), source(**changes))) == []
