"""A RoCE fabric says who keeps its class lossless on the NICs, and the NIC configuration operator can do so."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.judge.preflight.cluster.lossless import check

FABRIC: dict[str, Any] = {name: value for name, value in EVERYTHING["fabric"].items() if name != "qos"}
POOLS = EVERYTHING["pools"]
BY_NAME = {"shape": "hgx-h100", "nodes": 2, "interfaces": [f"ens{index}np0" for index in range(8)]}
ASKED = {**FABRIC, "qos": {"by": "operator"}}
WITHOUT = {name: choice for name, choice in OPERATORS.items() if name != "network-operator"}
FOREIGN = {**WITHOUT, "network-operator": {"version": "26.4.1", "managed": False}}

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "nobody is said to set the NICs": (
        {"fabric": FABRIC},
        "warning rdma-roce-qos fabric.type",
        "roce has no qos, so NICs may drop priority 3; set qos to {by: operator} or {by: provided}",
    ),
    "the operator is not there": (
        {"fabric": ASKED, "operators": WITHOUT},
        "error rdma-qos-operator fabric.qos.by",
        "qos.by 'operator' needs network-operator, which runs it; add it to operators, or set by: provided",
    ),
    "the operator is somebody else's": (
        {"fabric": ASKED, "operators": FOREIGN},
        "error rdma-qos-operator fabric.qos.by",
        "qos.by 'operator' needs network-operator, which runs it; add it to operators, or set by: provided",
    ),
    "NICs that are known by their interfaces alone": (
        {
            "fabric": ASKED,
            "pools": {**POOLS, "h100": BY_NAME},
        },
        "error rdma-qos-operator pools.h100",
        "qos.by 'operator' finds NICs by PCI address, which pool 'h100' lacks; set pools.h100.pci",
    ),
    "the operator is given no priority": (
        {"fabric": {**ASKED, "trafficClass": None}},
        "error rdma-qos-operator fabric.qos",
        "qos.by 'operator' needs the lossless priority; set trafficClass, from which it follows",
    ),
    "a priority that the operator's NICs do not give": (
        {"fabric": {**FABRIC, "qos": {"by": "operator", "priority": 4}}},
        "error rdma-qos-operator fabric.qos.priority",
        "qos.priority is 4, but NICs put trafficClass 106 into 3; use the same on NICs and switches",
    ),
    "a priority that nodes may map by themselves": (
        {"fabric": {**FABRIC, "qos": {"by": "provided", "priority": 5}}},
        "warning rdma-roce-qos fabric.qos.priority",
        "qos.priority is 5, but NICs put trafficClass 106 into 3; use the same on NICs and switches",
    ),
    "a lossless priority of no class": (
        {"fabric": {**FABRIC, "trafficClass": 0, "qos": {"by": "provided"}}},
        "error rdma-qos-operator fabric.qos",
        "qos keeps a priority lossless, but trafficClass 0 has none; set trafficClass, or remove qos",
    ),
    "a priority on InfiniBand": (
        {"fabric": {"type": "infiniband", "attach": "sriov", "qos": {"by": "provided"}}},
        "error rdma-qos-operator fabric.qos",
        "qos is only for roce, not 'infiniband'; remove it",
    ),
}

RIGHT: dict[str, dict[str, Any]] = {
    "no fabric": {"fabric": None},
    "the operator sets NICs whose shape says type and address": {"fabric": ASKED},
    "the operator is told the priority that follows": {"fabric": {**FABRIC, "qos": {"by": "operator", "priority": 3}}},
    "nodes set the NICs": {"fabric": {**FABRIC, "qos": {"by": "provided"}}},
    "no class is lossless": {"fabric": {**FABRIC, "trafficClass": 0}},
    "the class is missing, which nccl-tc reports": {"fabric": {**FABRIC, "trafficClass": None}},
    "pods are not attached": {"fabric": {"type": "roce", "trafficClass": 106}},
    "InfiniBand": {"fabric": {"type": "infiniband", "attach": "sriov"}},
}


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes with a fabric that lacks the fields that are None."""
    fabric = changes["fabric"]
    own = {name: value for name, value in fabric.items() if value is not None} if fabric else None
    return {**changes, "fabric": own}


@pytest.mark.parametrize(("changes", "where", "message"), WRONG.values(), ids=WRONG)
def test_nics_that_drop_training_traffic_are_found(changes, where, message):
    """One finding each, at a line of the cluster's file."""
    said = changed(changes)
    found = list(check(everything(**said), source(**said)))
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == [(where, message)]
    assert len(message.split()) <= 20
    assert found[0].location.line is not None


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_nics_that_are_set_are_no_finding(changes):
    """Whoever sets them, or where no class of the switches is lossless."""
    said = changed(changes)
    assert list(check(everything(**said), source(**said))) == []


def test_an_unknown_type_of_nic_is_found():
    """A machine that the cluster's file spells out says the type, or its pool does."""
    shape = {
        "cpus": 64,
        "memory": "512Gi",
        "ephemeralStorage": "1000Gi",
        "reserved": {"cpus": "1", "memory": "1Gi"},
        "daemons": {"cpus": "1", "memory": "1Gi"},
        "nics": [{"name": "mlx5_0", "pci": "0000:18:00.0", "rail": 0, "speed": "400G", "link": "ethernet"}],
    }
    pools = {**POOLS, "h100": {"shape": shape, "nodes": 2}}
    told = {**POOLS, "h100": {"shape": shape, "nodes": 2, "nicType": "a2dc"}}
    fabric = {**ASKED, "rails": 1}
    (found,) = check(everything(fabric=fabric, pools=pools), source(fabric=fabric, pools=pools))
    assert (
        found.message == "qos.by 'operator' finds NICs by their type, which pool 'h100' lacks; set pools.h100.nicType"
    )
    assert list(check(everything(fabric=fabric, pools=told), source(fabric=fabric, pools=told))) == []
