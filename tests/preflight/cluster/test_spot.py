"""A pool and its labels agree on whether the provider may take its nodes away."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.spot import check

GKE = {"cloud.google.com/gke-spot": "true"}
EKS = "eks.amazonaws.com/capacityType"
AKS = "kubernetes.azure.com/scalesetpriority"

CASES: dict[str, tuple[str, dict[str, Any], list[tuple[str, str]]]] = {
    "a label says so": ("cpu", {"labels": GKE}, [("error", 'labels["cloud.google.com/gke-spot"]')]),
    "a taint says so": ("cpu", {"taints": [{"key": AKS, "value": "spot"}]}, [("error", "taints[0].key")]),
    "the name says so": ("cpu-spot", {}, [("warning", "")]),
    "the label says otherwise": ("cpu", {"spot": True, "labels": {EKS: "ON_DEMAND"}}, [("error", "spot")]),
    "the label agrees": ("cpu-spot", {"spot": True, "labels": {EKS: "SPOT"}}, []),
    "the label outweighs the name": ("cpu-spot", {"labels": {"karpenter.sh/capacity-type": "on-demand"}}, []),
    "no label says anything": ("cpu", {"spot": True, "labels": {"team": "spot"}}, []),
    "a name with other letters": ("spotlight", {}, []),
    "a taint that both kinds of nodes may have": ("cpu", {"taints": [{"key": AKS}]}, []),
}


@pytest.mark.parametrize(("name", "fields", "expected"), CASES.values(), ids=CASES)
def test_spot_agrees_with_what_else_is_said(name, fields, expected):
    """A contradiction stands at what says otherwise, a mere name is a warning, and agreement is silent."""
    changes = {"pools": {name: {"shape": "kind-8", "nodes": 2, **fields}}, "topology": None, "queues": None}
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    cluster = make_cluster(**{key: value for key, value in changes.items() if value})
    found = [(str(item.severity), item.path) for item in check(cluster, source)]
    assert found == [(weight, f"pools.{name}.{field}".rstrip(".")) for weight, field in expected] or found == [
        (weight, f'pools["{name}"].{field}'.rstrip(".")) for weight, field in expected
    ]
