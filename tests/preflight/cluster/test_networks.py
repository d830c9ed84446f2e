"""A fabric with too few rails or addresses, or with those of others, is reported."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, everything, source
from trainyard.judge.preflight.cluster import inventory
from trainyard.judge.preflight.cluster.networks import check

FABRIC: dict[str, Any] = EVERYTHING["fabric"]

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no addresses": (
        {"addresses": None},
        "rdma-ipam-capacity",
        "attach 'sriov' gives pods interfaces, which need IP addresses; set addresses",
    ),
    "a range that rails cannot share": (
        {"addresses": "10.56.0.0/29"},
        "rdma-ipam-capacity",
        "addresses '10.56.0.0/29' are too few for 8 rails; use a larger network",
    ),
    "subnets smaller than the nodes' interfaces": (
        {"addresses": "10.56.0.0/23"},
        "rdma-ipam-capacity",
        "rail-0 has 61 addresses in 10.56.0.0/26, but its nodes have 128 interfaces; use a larger range",
    ),
    "a range inside the pods'": (
        {"addresses": "10.2.0.0/16"},
        "rdma-ipam-overlap",
        "addresses 10.2.0.0/16 overlap the cluster's pods 10.0.0.0/14; use another range",
    ),
    "more rails than a node has NICs": (
        {"rails": 9, "addresses": "10.64.0.0/10"},
        "rdma-sriov-policy-isrdma",
        "rails is 9, but pool 'h100' has no ethernet NIC on rail 8",
    ),
}


def fabric(**changes: Any) -> dict[str, Any]:
    """Return the fabric's fields with changes; None takes one away."""
    return {name: value for name, value in {**FABRIC, **changes}.items() if value is not None}


def test_a_fabric_is_fine_as_it_stands():
    """The cluster of these tests has nothing to report."""
    assert list(check(everything(), source())) == []


@pytest.mark.parametrize(("changes", "rule", "message"), WRONG.values(), ids=WRONG)
def test_a_fabric_that_cannot_work_is_reported(changes, rule, message):
    """Too few addresses, or addresses of others, hang the last pods of a gang."""
    found = list(check(everything(fabric=fabric(**changes)), source(fabric=fabric(**changes))))
    assert [(item.rule, item.message) for item in found] == [(rule, message)]
    assert found[0].location.line is not None


def test_a_pool_without_any_nic_is_told_once():
    """Of such a pool the inventory speaks; that its NICs are on no rail follows."""
    cluster = everything(fabric=fabric(pools=["cpu"], rails=1))
    found = [*inventory.check(cluster, source()), *check(cluster, source())]
    assert [item.rule for item in found if item.path and item.path.startswith("fabric")] == ["spec/fabric-nics"]
