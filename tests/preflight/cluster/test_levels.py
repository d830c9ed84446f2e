"""Topology levels go from coarse to fine, or the level that stands too early is reported."""

from __future__ import annotations

import pytest

from make import make_cluster, make_source
from trainyard.judge.preflight.cluster.levels import check

LEVELS: dict[str, tuple[list[dict[str, str]], list[tuple[str, str]]]] = {
    "coarse to fine": ([{"block": "example.com/block"}, {"rack": "example.com/rack"}], []),
    "fine to coarse": (
        [{"rack": "example.com/rack"}, {"block": "example.com/block"}],
        [("topology[0].rack", "level 'rack' stands before 'block', which holds it; write 'block' first")],
    ),
    "by the labels": (
        [{"near": "cloud.google.com/gce-topology-subblock"}, {"far": "cloud.google.com/gce-topology-block"}],
        [("topology[0].near", "level 'subblock' stands before 'block', which holds it; write 'block' first")],
    ),
    "names that tell nothing": ([{"near": "example.com/a"}, {"far": "example.com/b"}], []),
    "a domain of NVLink after a block": ([{"block": "example.com/block"}, {"domain": "nvidia.com/gpu.clique"}], []),
    "one level": ([{"rack": "example.com/rack"}], []),
}


@pytest.mark.parametrize(("levels", "expected"), LEVELS.values(), ids=LEVELS)
def test_the_order_of_levels(levels, expected):
    """Names and labels are compared as far as both are known."""
    cluster = make_cluster(topology=levels)
    source = make_source("platform/clusters/test.yaml", {"topology": levels})
    assert [(finding.path, finding.message) for finding in check(cluster, source)] == expected
