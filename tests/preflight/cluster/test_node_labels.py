"""Labels of nodes are those that somebody sets, as far as it is known who sets which."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.node_labels import check
from trainyard.specs.labels import labels, owners

P5 = {"h100": {"shape": "aws-p5-48xlarge", "nodes": 2}}
B200 = {"b200": {"shape": "dgx-b200", "nodes": 2}}
LAYER = "topology.k8s.aws/network-node-layer-"


def level(label: str) -> dict[str, Any]:
    """Return a cluster's topology of one level."""
    return {"topology": [{"rack": label}]}


def pool(**fields: Any) -> dict[str, Any]:
    """Return a cluster of one pool of CPUs."""
    return {"pools": {"cpu": {"shape": "kind-8", "nodes": 2, **fields}}, "topology": None}


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a label that lost its end": (
        level("nvidia.com/gpu.cliq"),
        ["label 'nvidia.com/gpu.cliq' is set by nobody; did you mean 'nvidia.com/gpu.clique'?"],
    ),
    "a label without its first word": (
        level("nvidia.com/clique"),
        ["label 'nvidia.com/clique' is set by nobody; did you mean 'nvidia.com/gpu.clique'?"],
    ),
    "a misspelt domain": (
        level("nvida.com/gpu.clique"),
        ["label 'nvida.com/gpu.clique' is set by nobody; did you mean 'nvidia.com/gpu.clique'?"],
    ),
    "an unknown label where not all are known": (level("oci.oraclecloud.com/rdma.rack"), []),
    "an unknown label of Amazon's": (
        {**level("topology.k8s.aws/rack"), "pools": P5},
        ["Amazon EKS sets no label 'topology.k8s.aws/rack'; there are: network-node-layer-1, network-node-layer-2"],
    ),
    "a layer that machines do not have": (
        {**level(f"{LAYER}4"), "pools": P5},
        [f"nodes of pool 'h100' have no label '{LAYER}4'; remove level 'rack', or correct it"],
    ),
    "a layer that other machines may have": ({**level(f"{LAYER}4"), "pools": {**P5, **B200}}, []),
    "a layer that all have": ({**level(f"{LAYER}3"), "pools": P5}, []),
    "a label of the site's own": (level("example.com/rack"), []),
    "a label of Kubernetes that sites set themselves": (level("topology.kubernetes.io/rack"), []),
    "a misspelt label of a pool": (
        pool(labels={"eks.amazonaws.com/capacitytype": "SPOT"}),
        ["label 'eks.amazonaws.com/capacitytype' is set by nobody; did you mean 'eks.amazonaws.com/capacityType'?"],
    ),
    "a misspelt taint": (
        pool(taints=[{"key": "nvidia.com/gpus"}]),
        ["label 'nvidia.com/gpus' is set by nobody; did you mean 'nvidia.com/gpu'?"],
    ),
    "taints and labels of one's own": (
        pool(taints=[{"key": "example.com/team", "value": "nlp"}], labels={"team": "nlp", "cloud.google.com/x": "y"}),
        [],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_labels_are_set_by_somebody(changes, expected):
    """A near miss of a known label, or an unknown one among known ones, is found; a site's own stay silent."""
    found = list(check(make_cluster(**changes), make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})))
    assert len(found) == len(expected)
    assert all(item.message.startswith(start) for item, start in zip(found, expected, strict=True))
    assert all(item.location.line > 1 for item in found)


def test_facts_on_labels_agree_with_each_other():
    """Whatever is said of a label is said of a listed one, and no label has two owners."""
    said = {key for facts in labels().values() for key in (*facts.spot, *facts.steady, *facts.lacking)}
    assert said <= owners().keys()
    assert len(owners()) == sum(len(facts.labels) for facts in labels().values())
