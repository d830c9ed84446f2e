"""A pool whose NVLink spans nodes names the level that is its NVLink domain."""

from __future__ import annotations

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.nvlink import check

ROW, DOMAIN = {"row": "example.com/row"}, {"domain": "nvidia.com/gpu.clique"}
CASES = {
    "the level of the domains": ([ROW, DOMAIN], "domain", []),
    "a level above them": (
        [ROW, DOMAIN],
        "row",
        ["nvlink of pool 'gb' is 'row', but level 'domain' has the domains' label nvidia.com/gpu.clique; write domain"],
    ),
    "a label of the site's own": ([ROW, {"domain": "example.com/nvl"}], "domain", []),
    "a level that is not there": (
        [ROW, DOMAIN],
        "domian",
        ["nvlink of pool 'gb' is 'domian', which is not a level of topology; did you mean 'domain'?"],
    ),
}


@pytest.mark.parametrize(("topology", "level", "messages"), CASES.values(), ids=CASES)
def test_the_level_is_that_of_the_domains(topology, level, messages):
    """A label that no program of NVIDIA's sets may be the domains' too."""
    pools = {"gb": {"shape": "gb200-nvl72", "nodes": 36, "nvlink": level}}
    queues = {"all": {"teams": ["nlp"], "nominalQuota": {"gb": {"gpus": 144}}}}
    operators = {**CLUSTER["operators"], "dra-driver-nvidia-gpu": {"version": "0.4.0"}}
    changes = {"pools": pools, "topology": topology, "queues": queues, "operators": operators}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    assert [item.message for item in check(make_cluster(**changes), source)] == messages
