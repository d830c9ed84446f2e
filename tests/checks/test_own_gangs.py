"""Jobs that nobody renders, on a described cluster: their pools' fabric, and who may open the devices there."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, CPU_NODE, make_cluster
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.base.system.data import policy_files
from trainyard.checks import POOL, RUN_LABEL
from trainyard.judge.policies.policy import usable
from trainyard.judge.policies.run import check
from trainyard.judge.policies.world import World

POLICIES = {policy.id: policy for policy in usable(policy_files(ROOT))}

EFA = {
    "pools": {"gpu": {"shape": "aws-p5-48xlarge", "nodes": 4}, "cpu": {"shape": CPU_NODE, "nodes": 4}},
    "fabric": {"type": "efa"},
}
SHARED = {"fabric": {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/shared_ib"]}}


def found(
    site: dict[str, Any] | None,
    *,
    pods: int = 4,
    labels: dict[str, str] | None = None,
    policy: str = "rdma-fabric-unused",
    gpu: str = "nvidia.com/gpu",
    **limits: int,
) -> list[str]:
    """Return what a policy says of a plain Job with these limits, whose pods run as no root."""
    container = {"name": "train", "resources": {"limits": {gpu: 8, **limits}}}
    spec = {"nodeSelector": {POOL: "gpu"}, "securityContext": {"runAsUser": 1000}, "containers": [container]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "own", "namespace": "nlp", "labels": labels or {}},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    }
    documents, _ = load(dump(job).encode(), file="job.yaml")
    objects, _ = expand(documents)
    cluster = make_cluster(**{**CLUSTER, **site}) if site is not None else None
    return [finding.message for finding in check(World(tuple(objects), cluster), [POLICIES[policy]])[0]]


@pytest.mark.parametrize(
    ("site", "asks"),
    [(EFA, "request vpc.amazonaws.com/efa"), (SHARED, "request rdma/shared_ib")],
    ids=["EFA", "InfiniBand"],
)
def test_a_gang_without_devices_of_its_pools_fabric_is_told(site: dict[str, Any], asks: str) -> None:
    """Nobody reads a warning in its logs: NCCL falls back to sockets."""
    (said,) = found(site)
    assert said == f"4 whole-node pods request no RDMA device, so they train over TCP; {asks}"
    (device,) = asks.split()[1:]
    assert not found(site, **{device: 1})


@pytest.mark.parametrize("site", [None, {}, {**EFA, "fabric": {"type": "efa", "pools": ["cpu"]}}])
def test_a_gang_off_the_fabric_has_nothing_to_use(site: dict[str, Any] | None) -> None:
    """Neither without a description, nor where it names no fabric, nor in a pool that is not on it."""
    assert not found(site)


def test_one_pod_and_a_part_of_a_node_are_left_alone() -> None:
    """And what Trainyard renders is the preflight's, which knows the job's own word for TCP."""
    assert not found(EFA, pods=1)
    assert not found(EFA, **{"nvidia.com/gpu": 4})
    assert not found(EFA, labels={RUN_LABEL: "own"})


@pytest.mark.parametrize(
    ("access", "ends"),
    [("open", None), ("udev", None), ([109, 44], "add 44, 109"), (None, "add the gid of the nodes' render group")],
)
def test_a_job_opens_amd_devices_as_its_pool_allows(access: object, ends: str | None) -> None:
    """Its pool says who may; without a word the group is missing, and without its number."""
    pool = {"shape": "mi300x", "nodes": 4, **({"deviceAccess": access} if access else {})}
    site = {"pools": {"gpu": pool, "cpu": {"shape": CPU_NODE, "nodes": 4}}}
    said = found(site, policy="amd-device-group", gpu="amd.com/gpu")
    assert [message.endswith(ends or "") for message in said] == ([True] if ends else [])
