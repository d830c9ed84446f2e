"""A preset of a cloud's machine belongs to clusters of that cloud."""

from __future__ import annotations

from typing import Any

import pytest

from everything import source
from make import CPU_NODE, make_cluster
from trainyard.judge.preflight.cluster.shape_provider import check


def pool(shape: str, **system: str) -> dict[str, Any]:
    """Return a pool of a preset, with a distribution of its own."""
    return {"shape": shape, "nodes": 1, **({"system": system} if system else {})}


GKE = "shape 'gke-a2-highgpu-8g' is a machine of google, but nodes of 'gpu' run"
CASES: dict[str, tuple[dict[str, Any], str, list[tuple[bool, str]]]] = {
    "GKE's on GKE": (pool("gke-a2-highgpu-8g"), "gke-ubuntu", []),
    "GKE's on k3s": (
        pool("gke-a2-highgpu-8g"),
        "k3s",
        [(False, f"{GKE} k3s; use another shape, or set distribution: gke-cos")],
    ),
    "GKE's on EKS": (pool("gke-a2-highgpu-8g"), "eks", [(True, f"{GKE} EKS (AL2023); use another shape")]),
    "a pool that says where it is": (pool("gke-a2-highgpu-8g", distribution="gke-cos"), "eks", []),
    "Amazon's on Bottlerocket": (pool("aws-p4d-24xlarge"), "eks-bottlerocket", []),
    "Amazon's on kubeadm": (pool("aws-p4d-24xlarge"), "kubeadm", [(False, "set distribution: eks")]),
    "Azure's on OKE": (pool("azure-nd96isr-h100-v5"), "oke", [(True, "is a machine of azure")]),
    "CoreWeave's on its own service": (pool("coreweave-b200-8x"), "kubeadm", []),
    "CoreWeave's on AKS": (pool("coreweave-b200-8x"), "aks", [(True, "is a machine of coreweave")]),
    "a server of one's own on EKS": (pool("hgx-a100-40gb"), "eks", []),
    "a shape in words": ({"shape": {**CPU_NODE, "provider": "google"}, "nodes": 1}, "k3s", []),
    "no distribution that is named": (pool("gke-a2-highgpu-8g"), "", []),
    "a misspelt shape": (pool("gke-a9"), "eks", []),
}


@pytest.mark.parametrize(("gpu", "distribution", "expected"), CASES.values(), ids=CASES)
def test_a_preset_belongs_to_its_cloud(gpu, distribution, expected):
    """Another cloud's is an error; on a distribution that runs anywhere it is a warning."""
    own = {"pools": {"gpu": gpu}, "queues": {}, "operators": {}, "system": {"distribution": distribution or None}}
    found = list(check(make_cluster(**own), source(**own)))
    assert [item.is_error for item in found] == [is_error for is_error, _ in expected]
    assert all(words in item.message for item, (_, words) in zip(found, expected, strict=True))
