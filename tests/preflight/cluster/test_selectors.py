"""A pool's selector names labels of its own nodes, by which Kueue and everything else tells pools apart."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import CLUSTER, CPU_NODE, make_cluster, make_pool, make_source
from trainyard.judge.preflight.cluster import inventory, node_labels, selectors, spot

GPU: dict[str, Any] = {"shape": "dgx-h100", "nodes": 4, "racks": 2}
CPU: dict[str, Any] = {"shape": CPU_NODE, "nodes": 4}
GROUP = "eks.amazonaws.com/nodegroup"
PRODUCT = "nvidia.com/gpu.product"
CLASS = {
    "image": "al2023@v20260810",
    "role": "nodes",
    "subnets": ["subnet-0b1c2d3e4f5061728"],
    "securityGroups": ["sg-0b1c2d3e4f5061728"],
}
CARD = {"count": 8, "vendor": "nvidia", "product": "TEST", "memory": "80Gi"}
NUMA = [{**CPU_NODE["numa"][0], "gpus": [*range(8)]}]
OTHER_GPU: dict[str, Any] = {
    "shape": {**CPU_NODE, "gpus": CARD, "numa": NUMA, "labels": {PRODUCT: "TEST"}},
    "nodes": 4,
}


def pools(gpu: dict[str, Any] | None = None, cpu: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the pools `gpu` and `cpu` with fields more."""
    return {"pools": {"gpu": {**GPU, **(gpu or {})}, "cpu": {**CPU, **(cpu or {})}, **more}}


def group(name: str) -> dict[str, Any]:
    """Return the selector of a node group of EKS."""
    return {"selector": {GROUP: name}}


def karpenter(**pool: Any) -> dict[str, Any]:
    """Return a cluster whose pool `gpu` Karpenter scales."""
    base = {"shape": "aws-p5-48xlarge", "nodes": {"max": 4}, "scaling": {"nodeClass": CLASS}, "racks": 1}
    return {"system": {"distribution": "eks"}, "topology": None, **pools({**base, **pool}, {"selector": {"a": "b"}})}


APART = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "node groups of their own": (pools(group("gpu"), group("cpu")), []),
    "a product that no other pool has": (pools({"selector": {PRODUCT: "NVIDIA-H100-80GB-HBM3"}}), []),
    "labels that differ in one": (pools({"selector": {"a": "1", "b": "1"}}, {"selector": {"a": "1", "b": "2"}}), []),
    "one selector twice": (
        pools(group("x"), group("x")),
        [("spec/pool-overlap", "pools.cpu.selector")],
    ),
    "labels of which another pool has more": (
        pools({"selector": {"a": "1"}}, {"selector": {"a": "1", "b": "2"}}),
        [("spec/pool-overlap", "pools.gpu.selector")],
    ),
    "a label that another pool has too": (
        pools({"selector": {"a": "1"}}, {"labels": {"a": "1"}}),
        [("spec/pool-overlap", "pools.gpu.selector")],
    ),
    "a product that machines of another pool have": (
        {**pools({"selector": {"a": "1"}}, {**OTHER_GPU}, third={**OTHER_GPU, "selector": {PRODUCT: "TEST"}})},
        [("spec/pool-overlap", "pools.third.selector")],
    ),
    "the name of another pool": (
        pools({"selector": {"a": "1"}, "labels": {"trainyard.dev/pool": "cpu"}}),
        [("spec/pool-overlap", "pools.gpu.labels"), ("spec/pool-label", "")],
    ),
    "the usual label that runs from before still select": (
        pools({"selector": {"a": "1"}, "labels": {"trainyard.dev/pool": "gpu"}}),
        [],
    ),
    "a value that its own labels contradict": (
        pools({"selector": {"a": "1"}, "labels": {"a": "2"}}),
        [("spec/pool-selector", "pools.gpu.selector.a")],
    ),
    "a value that the shape contradicts": (
        pools({"selector": {PRODUCT: "NVIDIA-A100"}}),
        [("spec/pool-selector", f'pools.gpu.selector["{PRODUCT}"]')],
    ),
    "a level of the topology": (
        pools({"selector": {"example.com/rack": "r1"}}),
        [("spec/pool-selector", 'pools.gpu.selector["example.com/rack"]')],
    ),
    "the host's name": (
        pools({"selector": {"kubernetes.io/hostname": "a"}}),
        [("spec/pool-selector", 'pools.gpu.selector["kubernetes.io/hostname"]')],
    ),
    "the usual label": (
        pools({"selector": {"trainyard.dev/pool": "x"}}),
        [("spec/pool-selector", 'pools.gpu.selector["trainyard.dev/pool"]')],
    ),
    "a misspelt label": (
        pools({"selector": {"eks.amazonaws.com/nodegroups": "x"}}),
        [("spec/node-label", 'pools.gpu.selector["eks.amazonaws.com/nodegroups"]')],
    ),
    "a label of spot nodes": (
        pools({"selector": {"cloud.google.com/gke-spot": "true"}}),
        [("spec/spot", 'pools.gpu.selector["cloud.google.com/gke-spot"]')],
    ),
    "pools of one queue without a topology": (
        {"topology": None, **pools({**group("gpu"), "racks": 1})},
        [("queueing/pool-labels", "queues.research.nominalQuota.cpu")],
    ),
    "pools of one queue with a topology": (pools(group("gpu")), []),
    "pools of two queues": ({"topology": None, "queues": APART, **pools({**group("gpu"), "racks": 1})}, []),
    "Karpenter's own name of the pool": (
        karpenter(selector={"karpenter.sh/nodepool": "gpu"}, labels={}),
        [("queueing/pool-labels", "queues.research.nominalQuota.cpu")],
    ),
    "another name of Karpenter's": (
        {**karpenter(selector={"karpenter.sh/nodepool": "x"}), "queues": APART},
        [("spec/restricted-label", 'pools.gpu.selector["karpenter.sh/nodepool"]')],
    ),
    "a label that kubelets refuse": (
        {**karpenter(selector={"node-role.kubernetes.io/gpu": "true"}), "queues": APART},
        [("spec/restricted-label", 'pools.gpu.selector["node-role.kubernetes.io/gpu"]')],
    ),
    "a label that kubelets accept": (
        {**karpenter(selector={"node.kubernetes.io/instance-type": "p5.48xlarge"}), "queues": APART},
        [],
    ),
    "a label that kubelets refuse where others set it": (
        pools({"selector": {"node-role.kubernetes.io/gpu": "true"}}),
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_selectors_select_the_nodes_of_one_pool(case: str) -> None:
    """A label that nodes lack, share with other pools, or cannot have is told at the selector."""
    changes, expected = CASES[case]
    written = {key: value for key, value in {**CLUSTER, **changes}.items() if value is not None}
    source, cluster = make_source("platform/clusters/test.yaml", written), make_cluster(**changes)
    checks = (inventory.check, node_labels.check, selectors.check, spot.check)
    found = [(item.rule, item.path or "") for check in checks for item in check(cluster, source)]
    assert {rule for rule, _ in found} == {rule for rule, _ in expected}
    assert {place for place in expected if place[1]} <= set(found)


@pytest.mark.parametrize("selector", [{}, {"a b": "c"}, {"a": "c/d"}, {"a": 1}, {"a": None}, "a=b"])
def test_a_selector_is_a_map_of_labels(selector: Any) -> None:
    """One label at least, each a legal one."""
    with pytest.raises(ValidationError):
        make_pool(selector=selector)
