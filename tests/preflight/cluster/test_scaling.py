"""Pools that scale are judged by whether their nodes come, and come before Kueue gives up."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.scaling import check

CLASS = {
    "image": "al2023@v20260810",
    "role": "nodes",
    "subnets": ["subnet-0a1b2c3d"],
    "securityGroups": ["sg-0a1b2c3d"],
}
TWO = {**CLASS, "subnets": ["subnet-0a1b2c3d", "subnet-0a1b2c3e"]}
BLOCK = {"id": "cr-1", "starts": "2026-12-10T11:30Z", "ends": "2026-12-24T11:30Z"}
KARPENTER = {**CLUSTER["operators"], "karpenter": {"version": "1.14.1", "managed": False}}
GPUS = {"queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}}


def eks(nodes: Any = None, shape: str = "aws-p5-48xlarge", **scaling: Any) -> dict[str, Any]:
    """Return a cluster on EKS with a pool that scales."""
    pool = {"shape": shape, "nodes": nodes or {"max": 4}, "scaling": {"nodeClass": CLASS, **scaling}}
    return {
        **GPUS,
        "topology": None,
        "pools": {"gpu": pool},
        "system": {"distribution": "eks"},
        "operators": KARPENTER,
    }


def reserved_block() -> dict[str, Any]:
    """Return a cluster on EKS whose pool on EFA is reserved, so all its nodes are in one zone."""
    changes = eks(shape="aws-g5-48xlarge", nodeClass=TWO)
    return {**changes, "pools": {"gpu": {**changes["pools"]["gpu"], "reservation": BLOCK}}, "fabric": {"type": "efa"}}


def gke(**scaling: Any) -> dict[str, Any]:
    """Return a cluster on GKE with a pool that scales."""
    pool = {"shape": "gke-a3-megagpu-8g", "nodes": {"max": 4}, "scaling": scaling}
    return {**GPUS, "pools": {"gpu": pool}, "system": {"distribution": "gke-cos"}}


def kueue(text: str) -> dict[str, Any]:
    """Return operators whose Kueue has a configuration of its own."""
    values = {"managerConfig": {"controllerManagerConfigYaml": text}}
    return {**KARPENTER, "kueue": {"version": "0.19.2", "values": values}}


FIXED = {"shape": "gke-a3-megagpu-8g", "nodes": 4}
QUEUED = "queued-provisioning.gke.io"

WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "Karpenter that is no operator": (
        {**eks(), "operators": CLUSTER["operators"]},
        [
            (
                "pools.gpu.scaling",
                "Karpenter scales the pool, but is no operator here; add karpenter: {version: 1.14.1, managed: false}",
            )
        ],
    ),
    "Karpenter without a node class": (
        eks(nodeClass=None),
        [
            (
                "pools.gpu.scaling",
                "Karpenter needs image, role, subnets and securityGroups of the nodes; add scaling.nodeClass",
            )
        ],
    ),
    "Karpenter outside of AWS": (
        {**gke(by="karpenter"), "operators": KARPENTER},
        [
            (
                "pools.gpu.scaling",
                (
                    "Karpenter's node classes are written for EKS only, but distribution is 'gke-cos'; "
                    "use by: cluster-autoscaler"
                ),
            )
        ],
    ),
    "nodes that Karpenter would have to keep": (
        eks(nodes={"min": 2, "max": 4}),
        [("pools.gpu.nodes", "min is 2, but Karpenter keeps no idle nodes; use min: 0, or a second pool")],
    ),
    "requests that Karpenter does not answer": (
        eks(provisioning="check-capacity.autoscaling.x-k8s.io"),
        [("pools.gpu.scaling.provisioning", "Karpenter answers no ProvisioningRequests; remove provisioning")],
    ),
    "a class of GKE elsewhere": (
        eks(by="cluster-autoscaler", provisioning=QUEUED, nodeClass=None),
        [
            (
                "pools.gpu.scaling.provisioning",
                f"provisioning is {QUEUED!r}, which exists on GKE only; use another class",
            )
        ],
    ),
    "a node class that nobody reads": (
        eks(by="cluster-autoscaler"),
        [
            (
                "pools.gpu.scaling.nodeClass",
                "nodeClass is for Karpenter, but cluster-autoscaler scales the pool; remove it",
            )
        ],
    ),
    "a shape that could be any machine": (
        eks(shape="hgx-h100"),
        [
            (
                "pools.gpu.shape",
                (
                    "the shape has no label node.kubernetes.io/instance-type, so Karpenter could start any node; "
                    "add the label"
                ),
            )
        ],
    ),
    "two subnets of machines without EFA": (
        {**eks(shape="cpu-64", nodeClass=TWO), "queues": {}, "fabric": {"type": "efa"}},
        [
            (
                "pools.gpu.shape",
                (
                    "the shape has no label node.kubernetes.io/instance-type, so Karpenter could start any node; "
                    "add the label"
                ),
            )
        ],
    ),
    "an image of another distribution": (
        {**eks(), "system": {"distribution": "eks-bottlerocket"}},
        [
            (
                "pools.gpu.scaling.nodeClass.image",
                (
                    "image is al2023@v20260810, but distribution is 'eks-bottlerocket'; use bottlerocket@…, or "
                    "distribution: eks"
                ),
            )
        ],
    ),
    "an image of Bottlerocket on AL2023": (
        eks(nodeClass={**CLASS, "image": "bottlerocket@v1.50.0"}),
        [
            (
                "pools.gpu.scaling.nodeClass.image",
                (
                    "image is bottlerocket@v1.50.0, but distribution is 'eks'; use al2023@…, or "
                    "distribution: eks-bottlerocket"
                ),
            )
        ],
    ),
    "subnets that EFA may not cross": (
        {**eks(shape="aws-g5-48xlarge", nodeClass=TWO), "fabric": {"type": "efa", "pools": ["gpu"]}},
        [
            (
                "pools.gpu.scaling.nodeClass.subnets[1]",
                (
                    "nodes of one run may start in subnet-0a1b2c3d and subnet-0a1b2c3e, and EFA does not cross zones; "
                    "use one"
                ),
            )
        ],
    ),
    "huge pages that Karpenter does not know": (
        {**eks(), "fabric": {"type": "efa", "pools": ["gpu"]}},
        [
            (
                "operators.karpenter",
                (
                    "pods of pool 'gpu' ask for huge pages; have settings.featureGates.nodeOverlay of Karpenter's "
                    "chart set, then waive this"
                ),
            )
        ],
    ),
    "a queue with a fixed pool beside": (
        {
            **gke(),
            "pools": {**gke()["pools"], "fixed": FIXED},
            "queues": {"a": {"teams": ["nlp"], "nominalQuota": {"fixed": {"gpus": 32}, "gpu": {"gpus": 32}}}},
        },
        [
            (
                "queues.a.nominalQuota.gpu",
                "queue 'a' has pool 'gpu', which scales and so has no topology, beside others; use a queue of its own",
            )
        ],
    ),
    "recovery that is shorter than a start": (
        {**eks(startMinutes=20), "recoveryMinutes": 20},
        [("recoveryMinutes", "Kueue's recoveryTimeout is 20m, but nodes of pool 'gpu' need 20 minutes to start")],
    ),
    "a timeout of one's own that is shorter": (
        {**eks(), "operators": kueue("waitForPodsReady: {timeout: 5m}")},
        [("operators.kueue", "Kueue's timeout is 5m, but nodes of pool 'gpu' need 15 minutes to start")],
    ),
}

RIGHT: dict[str, dict[str, Any]] = {
    "a fixed pool": {},
    "Karpenter on EKS": eks(),
    "Karpenter on Bottlerocket": {
        **eks(nodeClass={**CLASS, "image": "bottlerocket@v1.50.0"}),
        "system": {"distribution": "eks-bottlerocket"},
    },
    "two subnets without EFA": eks(nodeClass=TWO),
    "two subnets of one node": {
        **eks(nodes={"max": 1}, shape="aws-g5-48xlarge", nodeClass=TWO),
        "fabric": {"type": "efa"},
    },
    "two subnets of one reservation": reserved_block(),
    "cluster-autoscaler, which keeps nodes": eks(nodes={"min": 2, "max": 4}, by="cluster-autoscaler", nodeClass=None),
    "pods that wait for nodes on GKE": gke(),
    "nodes that Kueue asks for": gke(provisioning=QUEUED),
    "nodes that Kueue asks for, beside fixed ones": {
        **gke(provisioning=QUEUED),
        "pools": {**gke(provisioning=QUEUED)["pools"], "fixed": FIXED},
        "queues": {"a": {"teams": ["nlp"], "nominalQuota": {"fixed": {"gpus": 32}, "gpu": {"gpus": 32}}}},
    },
    "recovery without a limit": {**eks(startMinutes=60), "recoveryMinutes": 0},
    "a start of an hour, with the timeout that follows": eks(startMinutes=60),
    "a short timeout where Kueue asks for nodes": {
        **gke(provisioning=QUEUED, startMinutes=120),
        "recoveryMinutes": 10,
    },
    "a Kueue that waits for no pods": {**eks(), "operators": kueue("waitForPodsReady: {enable: false, timeout: 5m}")},
}


def found(changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Return path and message of each finding."""
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    every = list(check(make_cluster(**changes), source))
    assert all(item.location.line for item in every)
    return [(item.path or "", item.message) for item in every]


@pytest.mark.parametrize(("changes", "expected"), WRONG.values(), ids=WRONG)
def test_nodes_that_never_come_are_reported(changes, expected):
    """It is said at the field that keeps them away, with what to write."""
    assert found(changes) == expected


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_pools_whose_nodes_come_are_fine(changes):
    """Nothing is said of pools that can start their nodes in time."""
    assert found(changes) == []
