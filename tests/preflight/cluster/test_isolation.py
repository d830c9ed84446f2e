"""Teams share no network of a fabric that can keep them apart, and what keeps them apart does."""

from __future__ import annotations

from typing import Any

import pytest

from everything import everything, source
from trainyard.judge.preflight.cluster.isolation import check

ROCE = {"type": "roce", "attach": "sriov", "trafficClass": 106, "addresses": "10.56.0.0/16", "pools": ["h100"]}
INFINIBAND = {"type": "infiniband", "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
VLANS = {"ads": 401, "nlp": 402, "vision": 403}
KEYS = {"ads": "0x4", "nlp": "0x6", "vision": "0x8"}

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing keeps them apart": (
        ROCE,
        "warning sec-vf-vlan fabric.type",
        "teams ads, nlp, vision share one network on the rails, where no NetworkPolicy applies; set vlans",
    ),
    "one partition for all": (
        {**INFINIBAND, "partitionKey": "0x6"},
        "warning sec-vf-vlan fabric.type",
        "teams ads, nlp, vision share one network on the rails, where no NetworkPolicy applies; set partitionKeys",
    ),
    "one VLAN twice": (
        {**ROCE, "vlans": {**VLANS, "vision": 402}},
        "error spec/fabric-separate fabric.vlans.vision",
        "team 'vision' has the VLAN of team 'nlp'; use another",
    ),
    "one partition twice, as a full and as a limited member": (
        {**INFINIBAND, "partitionKeys": {**KEYS, "vision": "0x8006"}},
        "error spec/fabric-separate fabric.partitionKeys.vision",
        "team 'vision' has the partition of team 'nlp'; use another",
    ),
    "the partition of everybody": (
        {**INFINIBAND, "partitionKeys": {**KEYS, "nlp": "0x7FFF"}},
        "error spec/fabric-separate fabric.partitionKeys.nlp",
        "partition '0x7FFF' of team 'nlp' is the default one of all ports; use another",
    ),
    "a team that is not there": (
        {**ROCE, "vlans": {**VLANS, "visoin": 404}},
        "error spec/fabric-separate fabric.vlans.visoin",
        "team 'visoin' has no quota for the fabric's pools; did you mean 'vision'?",
    ),
    "VLANs of InfiniBand": (
        {**INFINIBAND, "vlans": VLANS},
        "error spec/fabric-separate fabric.vlans",
        "vlans only applies to virtual functions on roce, not 'sriov' on infiniband; remove it",
    ),
    "VLANs of whole NICs": (
        {**ROCE, "attach": "hostdev", "vlans": VLANS},
        "error spec/fabric-separate fabric.vlans",
        "vlans only applies to virtual functions on roce, not 'hostdev' on roce; remove it",
    ),
    "VLANs of routed rails": (
        {**ROCE, "nodePrefix": 29, "vlans": VLANS},
        "error spec/fabric-separate fabric.vlans",
        "vlans needs rails in one subnet, but nodePrefix routes them; separate teams on the switches",
    ),
}

RIGHT: dict[str, dict[str, Any] | None] = {
    "no fabric": None,
    "a VLAN each": {**ROCE, "vlans": VLANS},
    "two alone, and one for the rest": {**ROCE, "vlans": {"nlp": 402, "ads": 401}},
    "a partition each": {**INFINIBAND, "partitionKeys": KEYS},
    "whole NICs, which nothing here separates": {**ROCE, "attach": "hostdev"},
    "routed rails, which the switches separate": {**ROCE, "nodePrefix": 29},
    "a fabric of a cloud": {"type": "efa"},
}


@pytest.mark.parametrize(("fabric", "where", "message"), WRONG.values(), ids=WRONG)
def test_teams_that_share_are_told(fabric, where, message):
    """One finding each, at a line of the cluster's file."""
    found = list(check(everything(fabric=fabric), source(fabric=fabric)))
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == [(where, message)]
    assert found[0].location.line is not None


@pytest.mark.parametrize("fabric", RIGHT.values(), ids=RIGHT)
def test_teams_that_are_apart_are_fine(fabric):
    """Near cases of the above, and fabrics where nothing here could be written."""
    assert list(check(everything(fabric=fabric), source())) == []
