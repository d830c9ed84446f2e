"""What a cluster must state of its fabric is asked for, at the field, in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.base.findings import Severity
from trainyard.judge.preflight.cluster.fabric import check

FABRIC: dict[str, Any] = EVERYTHING["fabric"]
INFINIBAND = {**FABRIC, "type": "infiniband", "trafficClass": None, "subnetManager": "OpenSM of the switches"}

PARTITION: dict[str, Any] = {
    "partitionKey": "0x6",
    "guids": ["02:00:00:00:00:00:00:00", "02:FF:FF:FF:FF:FF:FF:FF"],
    "ufmSecret": "ufm-account",
}
ALONE = {name: choice for name, choice in OPERATORS.items() if name != "network-operator"}
FOREIGN = {**ALONE, "network-operator": {"version": "26.4.1", "managed": False}}

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "RoCE in a class that may be dropped": (
        {**FABRIC, "trafficClass": None},
        "warning nccl-tc fabric.type",
        "roce has no trafficClass, so NCCL uses class 0; set the lossless class, or 0",
    ),
    "RoCE without an interface": (
        {**FABRIC, "attach": "rdma-shared"},
        "error rdma-roce-netdev fabric.attach",
        "attach 'rdma-shared' gives pods no network interface, which roce needs; use macvlan",
    ),
    "InfiniBand over macvlan": (
        {**INFINIBAND, "attach": "macvlan"},
        "error rdma-cni-kind fabric.attach",
        (
            "attach is 'macvlan', but a fabric of type 'infiniband' supports only: host, hostdev, none, "
            "rdma-shared, sriov"
        ),
    ),
    "devices attached to a fabric of a cloud": (
        {"type": "efa", "attach": "sriov"},
        "error rdma-cni-kind fabric.attach",
        "attach is 'sriov', but a fabric of type 'efa' supports only: none",
    ),
    "an interface that pods do not have": (
        {**FABRIC, "attach": "host"},
        "error nccl-ifname fabric.attach",
        "attach 'host' shows pods all interfaces of the node; set interface to the bootstrap one",
    ),
    "a subnet that nobody manages": (
        {**INFINIBAND, "subnetManager": None},
        "error rdma-ib-prereq fabric.type",
        "infiniband needs a subnet manager; set subnetManager to its name, release and operator",
    ),
    "a partition that nobody serves": (
        {**INFINIBAND, **PARTITION, "operators": ALONE},
        "error rdma-ib-prereq fabric.partitionKey",
        "partitionKey needs ib-kubernetes; add operator network-operator, which installs it",
    ),
    "a partition without GUIDs and an account": (
        {**INFINIBAND, "partitionKey": "0x6"},
        "error rdma-ib-prereq fabric.partitionKey",
        "partitionKey also needs guids and ufmSecret, with which ib-kubernetes connects to UFM",
    ),
    "GUIDs from the end": (
        {**INFINIBAND, **PARTITION, "guids": PARTITION["guids"][::-1]},
        "error rdma-ib-prereq fabric.guids",
        "guids end at 02:00:00:00:00:00:00:00, before their start; write the first, then the last",
    ),
    "an account for no partition": (
        {**INFINIBAND, "ufmSecret": "ufm"},
        "error rdma-ib-prereq fabric.ufmSecret",
        "ufmSecret is only used with partitions; set partitionKey, or remove it",
    ),
    "a partition of whole adapters": (
        {**INFINIBAND, **PARTITION, "attach": "hostdev"},
        "error rdma-ib-prereq fabric.partitionKey",
        "partitionKey is only for virtual functions on infiniband, not 'hostdev' on infiniband; remove it",
    ),
    "packets of Ethernet on InfiniBand": (
        {**INFINIBAND, "mtu": 9000},
        "warning rdma-mtu-chain fabric.mtu",
        "mtu is 9000, but interfaces on InfiniBand carry at most 4092; use that",
    ),
    "classes of Ethernet on InfiniBand": (
        {**INFINIBAND, "trafficClass": 106},
        "warning nccl-tc fabric.trafficClass",
        "infiniband ignores trafficClass; remove it, and set serviceLevel if needed",
    ),
}

RIGHT: dict[str, dict[str, Any] | None] = {
    "no fabric": None,
    "RoCE with its class": FABRIC,
    "RoCE where no class is lossless": {**FABRIC, "trafficClass": 0},
    "InfiniBand with its manager and a lane": {**INFINIBAND, "serviceLevel": 3},
    "a partition with all that serves it": {**INFINIBAND, **PARTITION},
    "a partition that others serve": {**INFINIBAND, "partitionKey": "0x6", "operators": FOREIGN},
    "the node's own network": {**FABRIC, "attach": "host", "interface": "eno1"},
    "shared adapters on InfiniBand": {**INFINIBAND, "attach": "rdma-shared", "mtu": 65520},
    "the largest packets of InfiniBand": {**INFINIBAND, "mtu": 4092},
    "RoCE that pods are not attached to": {"type": "roce"},
    "a fabric of a cloud": {"type": "efa"},
}


def changes(fabric: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a cluster says: a fabric without the fields that are None, and the operators named beside it."""
    if fabric is None:
        return {"fabric": None}
    said = {name: value for name, value in fabric.items() if value is not None and name != "operators"}
    return {"fabric": said, "operators": fabric.get("operators", OPERATORS)}


@pytest.mark.parametrize(("fabric", "where", "message"), WRONG.values(), ids=WRONG)
def test_what_a_fabric_leaves_unsaid_is_asked_for(fabric, where, message):
    """One finding each, at a line of the cluster's file."""
    found = list(check(everything(**changes(fabric)), source(**changes(fabric))))
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == [(where, message)]
    assert len(message.split()) <= 20
    assert found[0].location.line is not None


@pytest.mark.parametrize("fabric", RIGHT.values(), ids=RIGHT)
def test_a_fabric_that_says_all_is_fine(fabric):
    """Near cases of the above."""
    assert list(check(everything(**changes(fabric)), source())) == []


def test_only_what_cannot_work_is_an_error():
    """A missing traffic class costs bandwidth, InfiniBand caps packets; everything else keeps jobs from starting."""
    rules = {where.split()[1]: where.split()[0] for _, where, _ in WRONG.values()}
    assert {rule for rule, severity in rules.items() if severity == Severity.WARNING} == {"nccl-tc", "rdma-mtu-chain"}
