"""Jobs whose NICs are far from their GPUs, that the kubelet refuses for them, or that leave their fabric unused."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_resolved, make_team
from trainyard.judge.preflight.job import attached
from trainyard.judge.preflight.job.rails import check
from two_sockets import GPU_NODE, PINNED, ROCE, cluster

ONE = {**ROCE, "resources": ["openshift.io/rdma"]}
KEPT = {**ROCE, "excludeTopology": False}

WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "half a node where a rail is a resource": (
        {"fabric": ROCE},
        {"fabric": "rdma", "gpus_per_node": 4},
        "warning numa-gpu-vf-ratio gpusPerNode",
        "fabric is 'rdma' with 4 of 8 GPUs: a second pod's NICs are far from its GPUs; use whole nodes",
    ),
    "half a node where the kubelet sees the rails' places": (
        {"fabric": KEPT, "kubelet": PINNED},
        {"fabric": "rdma", "gpus_per_node": 4},
        "error numa-gpu-vf-ratio gpusPerNode",
        "fabric is 'rdma' with 4 of 8 GPUs: the node rejects a second pod; use whole nodes",
    ),
    "a whole node whose NICs one socket could give": (
        {"fabric": {**ONE, "virtualFunctions": 8, "excludeTopology": False}, "kubelet": PINNED},
        {"fabric": "rdma"},
        "error numa-rail-hints gpusPerNode",
        "8 GPUs need several NUMA nodes, but one could provide 4 NICs, so the kubelet rejects the pod",
    ),
    "a gang that is silent about its fabric": (
        {"fabric": ROCE},
        {},
        "warning rdma-fabric-unused pool",
        "the job trains over TCP, but pool 'gpu' is on the fabric (roce); add fabric: rdma",
    ),
    "a gang beside a fabric that pods cannot have": (
        {"fabric": {"type": "roce", "pools": ["gpu"]}},
        {},
        "warning rdma-fabric-unused pool",
        "pods of pool 'gpu' are not attached to its roce; add fabric: tcp",
    ),
    "a gang on NICs of a cluster without a fabric": (
        {"fabric": None},
        {},
        "warning rdma-fabric-unused pool",
        "training uses TCP: pool 'gpu' has 4 NICs, but the cluster declares no fabric; add it, or fabric: tcp",
    ),
    "a gang on EFA devices of a cluster without a fabric": (
        {"shape": "aws-p5-48xlarge", "fabric": None},
        {},
        "warning rdma-fabric-unused pool",
        "training uses TCP: pool 'gpu' has 32 EFA devices, but the cluster declares no fabric; add it, or fabric: tcp",
    ),
}

RIGHT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "whole nodes": ({"fabric": ROCE, "kubelet": PINNED}, {"fabric": "rdma"}),
    "half a node of NICs that are aligned": (
        {"fabric": ONE, "kubelet": PINNED},
        {"fabric": "rdma", "gpus_per_node": 4},
    ),
    "a whole node of one function a NIC": ({"fabric": ONE, "kubelet": PINNED}, {"fabric": "rdma"}),
    "a gang that says TCP itself": ({"fabric": ROCE}, {"fabric": "tcp"}),
    "one node": ({"fabric": ROCE}, {"nodes": 1}),
    "CPUs alone": ({"fabric": ROCE}, {"pool": "cpu", "gpus_per_node": 0}),
    "a pool off the fabric": ({"fabric": {**ROCE, "pools": ["cpu"]}}, {}),
    "a part of a node in its own network, which is told elsewhere": (
        {"fabric": {**ROCE, "attach": "host"}},
        {"fabric": "rdma", "gpus_per_node": 4},
    ),
    "TCP in a cluster without a fabric": ({"fabric": None}, {"fabric": "tcp"}),
    "one node in a cluster without a fabric": ({"fabric": None}, {"nodes": 1}),
    "NICs that the cluster says are not connected": ({"fabric": {"type": "none"}}, {}),
    "machines without NICs for training": ({"shape": "gke-a2-highgpu-8g", "fabric": None}, {}),
}


@pytest.mark.parametrize(("site", "job", "where", "message"), WRONG.values(), ids=WRONG)
def test_rails_that_do_not_fit_a_job_are_reported(site, job, where, message):
    """Each at the job's field, in a short sentence."""
    found = list(check(make_resolved(cluster=cluster(**site), **job)))
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == [(where, message)]
    assert len(message.split()) <= 20


@pytest.mark.parametrize(("site", "job"), RIGHT.values(), ids=RIGHT)
def test_rails_that_fit_a_job_are_fine(site, job):
    """Near cases of the above."""
    assert list(check(make_resolved(cluster=cluster(**site), **job))) == []


def test_the_nodes_of_these_tests_have_two_sockets():
    """With four NICs in all, two beside each four GPUs."""
    assert [len(numa["gpus"]) for numa in GPU_NODE["numa"]] == [4, 4]


def test_the_nodes_own_network_is_for_whole_nodes_and_privileged_teams():
    """Ports of two jobs would clash in it, and Pod Security refuses it below privileged."""
    on = cluster(fabric={**ROCE, "attach": "host", "interface": "eno1"})
    found = attached.check(make_resolved(cluster=on, fabric="rdma", gpus_per_node=4))
    assert [item.rule for item in found] == ["run/fabric-pod-security", "run/fabric-whole-nodes"]
    team = make_team(podSecurity="privileged")
    assert list(attached.check(make_resolved(cluster=on, fabric="rdma", team=team))) == []
