"""Rails that are routed have blocks for all nodes, wide enough, and something that gives them out."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.judge.preflight.cluster.networks import check

FABRIC: dict[str, Any] = {**EVERYTHING["fabric"], "virtualFunctions": 1}
ALONE = {name: choice for name, choice in OPERATORS.items() if name != "network-operator"}

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "routes on a flat rail": (
        {"routes": ["10.60.0.0/16"]},
        "rdma-l3-rails fabric.routes",
        "routes only applies to routed rails; set nodePrefix",
    ),
    "blocks that nothing gives out": (
        {"nodePrefix": 31, "operators": ALONE},
        "rdma-l3-rails fabric.nodePrefix",
        "nodePrefix needs nv-ipam, which assigns a block to each node; add operator network-operator",
    ),
    "a block of a rail that nobody knows": (
        {"nodePrefix": 31, "resources": ["openshift.io/rdma"]},
        "rdma-l3-rails fabric.nodePrefix",
        "nodePrefix needs one device resource per rail, but all rails share one; name one for each rail",
    ),
    "fewer blocks than nodes": (
        {"nodePrefix": 22},
        "rdma-l3-rails fabric.nodePrefix",
        "rail-0 has 8 blocks of /22 in 10.56.0.0/19, but 16 nodes; use a larger range",
    ),
    "a block wider than the rail": (
        {"nodePrefix": 16},
        "rdma-l3-rails fabric.nodePrefix",
        "rail-0 has 0 blocks of /16 in 10.56.0.0/19, but 16 nodes; use a larger range",
    ),
    "more interfaces than a block has addresses": (
        {"nodePrefix": 31, "virtualFunctions": 8},
        "rdma-l3-rails fabric.nodePrefix",
        "a block of /31 has 1 addresses for pods, but a node has 8 interfaces; write virtualFunctions",
    ),
    "a block twice": (
        {"nodePrefix": 31, "nodeBlocks": {"dgx-01": 3, "dgx-02": 3}},
        "rdma-l3-rails fabric.nodeBlocks.dgx-02",
        "node 'dgx-02' has block 3, but 'dgx-01' has it",
    ),
    "a block beyond the rail": (
        {"nodePrefix": 24, "nodeBlocks": {"dgx-01": 32}},
        "rdma-l3-rails fabric.nodeBlocks.dgx-01",
        "node 'dgx-01' has block 32, but there are 32",
    ),
    "a route over the cluster's pods": (
        {"nodePrefix": 31, "routes": ["10.0.0.0/8"]},
        "rdma-ipam-overlap fabric.routes",
        "routes 10.0.0.0/8 overlap the cluster's pods 10.0.0.0/14; use another range",
    ),
}

RIGHT: dict[str, dict[str, Any]] = {
    "two addresses a node and rail": {"nodePrefix": 31},
    "as the leaves have them": {"nodePrefix": 31, "nodeBlocks": {"dgx-01": 0, "dgx-02": 1}},
    "a wide block for many functions": {"nodePrefix": 27, "virtualFunctions": 8},
    "a route of one's own": {"nodePrefix": 31, "routes": ["10.60.0.0/16"]},
    "beside Whereabouts, which others use": {"nodePrefix": 31, "operators": OPERATORS},
}


def changes(fabric: dict[str, Any]) -> dict[str, Any]:
    """Return what a cluster says: the fabric, and the operators named beside it."""
    own = {name: value for name, value in fabric.items() if name != "operators"}
    return {"fabric": {**FABRIC, **own}, "operators": fabric.get("operators", OPERATORS)}


@pytest.mark.parametrize(("fabric", "where", "message"), WRONG.values(), ids=WRONG)
def test_routed_rails_that_cannot_work_are_reported(fabric, where, message):
    """At the field to change, first things first."""
    found = list(check(everything(**changes(fabric)), source(**changes(fabric))))
    assert (f"{found[0].rule} {found[0].path}", found[0].message) == (where, message)
    assert len(message.split()) <= 20
    assert found[0].location.line is not None


@pytest.mark.parametrize("fabric", RIGHT.values(), ids=RIGHT)
def test_routed_rails_that_work_are_fine(fabric):
    """Near cases of the above."""
    assert list(check(everything(**changes(fabric)), source(**changes(fabric)))) == []
