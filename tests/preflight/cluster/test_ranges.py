"""Address ranges of a cluster are apart from each other and large enough."""

from __future__ import annotations

import pytest

from make import CLUSTER, CPU_NODE, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster import ranges

APART = {"pods": "10.0.0.0/14", "services": "10.4.0.0/16", "nodes": "10.8.0.0/20"}

CASES = {
    "apart": (APART, {}, []),
    "nodes that nobody says": ({**APART, "nodes": None}, {}, []),
    "beside each other": ({**APART, "pods": "10.0.0.0/15", "services": "10.2.0.0/16"}, {}, []),
    "Services within pods": ({**APART, "services": "10.1.0.0/16"}, {}, ["cidrs.services"]),
    "nodes within pods": ({**APART, "nodes": "10.3.0.0/20"}, {}, ["cidrs.nodes"]),
    "nodes around Services": ({**APART, "nodes": "10.4.0.0/15"}, {}, ["cidrs.nodes"]),
    "pods in the nodes' network, as on EKS": ({**APART, "nodes": "10.3.0.0/20"}, {"distribution": "eks"}, []),
    "Services in the nodes' network on EKS": (
        {**APART, "services": "10.8.0.0/24"},
        {"distribution": "eks"},
        ["cidrs.nodes"],
    ),
    "pods of two families": ({**APART, "pods": "fd00::/48"}, {}, []),
    "a block for each of eight nodes": ({**APART, "pods": "10.0.0.0/21"}, {}, []),
    "a block for seven": ({**APART, "pods": "10.0.0.0/22"}, {}, ["cidrs.pods warning"]),
    "larger blocks on OpenShift": (
        {**APART, "pods": "10.0.0.0/21"},
        {"distribution": "openshift"},
        ["cidrs.pods warning"],
    ),
    "no blocks on EKS": ({**APART, "pods": "10.0.0.0/24"}, {"distribution": "eks"}, []),
    "not one address a node": ({**APART, "pods": "10.0.0.0/30"}, {}, ["cidrs.pods"]),
    "Services for DNS alone": ({**APART, "services": "10.4.0.0/29"}, {}, []),
    "Services for less": ({**APART, "services": "10.4.0.0/30"}, {}, ["cidrs.services"]),
    "what every host answers itself": ({**APART, "pods": "127.0.0.0/8"}, {}, ["cidrs.pods"]),
    "the link": ({**APART, "nodes": "169.254.0.0/16"}, {}, ["cidrs.nodes"]),
    "groups": ({**APART, "services": "ff00::/108"}, {}, ["cidrs.services"]),
    "carriers' and future addresses, as GKE's": ({**APART, "pods": "240.0.0.0/8", "nodes": "100.64.0.0/16"}, {}, []),
    "nodes for all": ({**APART, "nodes": "10.8.0.0/29"}, {}, []),
    "nodes for some": ({**APART, "nodes": "10.8.0.0/30"}, {}, ["cidrs.nodes"]),
}


@pytest.mark.parametrize(("cidrs", "system", "expected"), CASES.values(), ids=CASES)
def test_ranges(cidrs, system, expected):
    """What is wrong is told at the range that has to change."""
    given = {name: text for name, text in cidrs.items() if text}
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4, "racks": 2}, "cpu": {"shape": CPU_NODE, "nodes": 4}}
    changes = {"cidrs": given, "system": system, "pools": pools}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = ranges.check(make_cluster(**changes), source)
    assert [f"{item.path}{'' if item.is_error else ' warning'}" for item in found] == expected
