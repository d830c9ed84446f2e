"""A check of the network is refused where its workers cannot meet, and warns of a floor that no network reaches."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_resolved
from trainyard.judge.preflight.job import checks

WITH = "check does not work with"
ALONE = "whole GPUs, which have nobody to talk to; remove check"
UNKNOWN = "busBandwidth has no default here, because the network's speed is not known; set it, such as 200G"
OWN: dict[str, Any] = {"busBandwidth": "100G"}
RDMA = {"type": "roce", "attach": "sriov", "memlock": "node", "mtu": 9000, "addresses": "10.1.0.0/16", "pools": ["gpu"]}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "no check": ({"check": None}, {"array": {"of": 4}, "nodes": 1}, []),
    "a floor of its own": (OWN, {}, []),
    "the floor of the fabric": ({}, {"fabric": "rdma"}, []),
    "one node with its floor": (OWN, {"nodes": 1}, []),
    "over TCP": ({}, {}, [UNKNOWN]),
    "one node": ({}, {"nodes": 1, "fabric": "rdma"}, [UNKNOWN]),
    "bits taken for bytes": (
        {"busBandwidth": "3200G"},
        {"fabric": "rdma"},
        ["busBandwidth is 3200 GB/s, but the NICs of a pod carry 400 GB/s; lower it"],
    ),
    "half of a node's NICs": (
        {"busBandwidth": "300G"},
        {"fabric": "rdma", "gpusPerNode": 4},
        ["busBandwidth is 300 GB/s, but the NICs of a pod carry 200 GB/s; lower it"],
    ),
    "a sum that no GPU holds": (
        {**OWN, "size": "200Gi"},
        {},
        ["size is 200Gi, but a GPU has 81559Mi of memory; use 1Gi"],
    ),
    "a large sum": ({**OWN, "size": "8Gi"}, {}, []),
    "an array": (
        OWN,
        {"array": {"of": 4}, "nodes": 1, "launcher": "python", "kind": "Job"},
        [f"{WITH} array, whose copies do not talk to each other; remove check"],
    ),
    "an elastic job": (
        OWN,
        {"minNodes": 1, "kind": "Job"},
        [f"{WITH} minNodes, since the check waits for all nodes; remove one of them"],
    ),
    "one GPU": (
        OWN,
        {"nodes": 1, "gpusPerNode": 1},
        [f"{WITH} 1 {ALONE}"],
    ),
    "no GPUs": (
        OWN,
        {"pool": "cpu", "gpusPerNode": 0},
        [f"{WITH} 0 {ALONE}"],
    ),
    "mpirun": (
        OWN,
        {"launcher": "mpirun", "kind": "MPIJob"},
        [f"{WITH} launcher 'mpirun', which starts ranks from one pod; use torchrun, or remove check"],
    ),
}


@pytest.mark.parametrize(("nccl", "job", "messages"), CASES.values(), ids=CASES)
def test_checks_that_can_work(nccl, job, messages):
    """The workers start the check themselves, all at once, and know how fast the network has to be."""
    job = {"check": {"nccl": nccl}, **job} if "check" not in nccl else job
    run = make_resolved(cluster=make_cluster(fabric=RDMA), **job)
    assert [finding.message for finding in checks.check(run)] == messages
