"""A pool whose NVLink spans nodes names the level that is its NVLink domain."""

from __future__ import annotations

import pytest

from make import CLUSTER, CPU_NODE, fields, make_cluster, make_source
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


NODES = {
    "GB300 of a rack": ("NVIDIA-GB300", 4, 18, []),
    "GB300 of half a rack": ("NVIDIA-GB300", 4, 9, []),
    "GH200 of a rack": ("NVIDIA-GH200-480GB", 1, 32, []),
    "one node": ("NVIDIA-L40S", 8, 1, []),
    "a model that nobody knows": ("NVIDIA-R100", 4, 36, []),
    "two racks as one": (
        "NVIDIA-GB200",
        4,
        36,
        ["nvlinkNodes of pool 'gb' is 36, but NVLink of GB200 connects 72 GPUs at most; lower nvlinkNodes"],
    ),
    "GPUs without NVLink": (
        "NVIDIA-L40S",
        8,
        2,
        ["nvlinkNodes of pool 'gb' is 2, but NVLink of L40 or L40S does not exist; remove it"],
    ),
}


@pytest.mark.parametrize(("product", "count", "nodes", "messages"), NODES.values(), ids=NODES)
def test_nvlink_reaches_as_far_as_its_model_does(product, count, nodes, messages):
    """A domain of more GPUs than the links of a model connect is a warning at the shape's field."""
    gpus = {"count": count, "vendor": "nvidia", "product": product, "memory": "80Gi"}
    numa = [{"cpus": "0-63", "memory": "250Gi", "gpus": list(range(count))}]
    pools = {"gb": {"shape": fields(CPU_NODE, {"gpus": gpus, "numa": numa, "nvlinkNodes": nodes}), "nodes": 72}}
    cluster, source = make_cluster(pools=pools, queues={}), make_source("platform/clusters/test.yaml", {"pools": pools})
    found = [item for item in check(cluster, source) if item.rule == "spec/nvlink-nodes"]
    assert [(item.path, item.message, item.is_error) for item in found] == [
        ("pools.gb.shape.nvlinkNodes", message, False) for message in messages
    ]
