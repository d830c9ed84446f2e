"""Quota in GPUs or nodes comes to amounts that the jobs it is meant for fit in."""

from __future__ import annotations

from typing import Any

import pytest

from everything import everything
from make import make_sizing
from trainyard.base.quantities import Quantity
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.quota import amounts, covered_resources
from trainyard.specs import Quota

AMOUNTS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "whole nodes by GPUs": ("h100", {"gpus": 16}, {"cpu": "416", "nvidia.com/gpu": "16", "openshift.io/rail_7": "16"}),
    "half a node by GPUs": ("h100", {"gpus": 4}, {"cpu": "104", "memory": "967Gi", "openshift.io/rail_0": "4"}),
    "an odd share is rounded down to whole CPUs": ("h100", {"gpus": 1}, {"cpu": "26", "ephemeral-storage": "170Gi"}),
    "nodes without GPUs": ("cpu", {"nodes": 2}, {"cpu": "28", "memory": "112Gi"}),
    "amounts spelled out have no GPUs": (
        "h100",
        {"cpus": 10, "memory": "100Gi"},
        {"cpu": "10", "memory": "100Gi", "nvidia.com/gpu": "0", "openshift.io/rail_0": "1"},
    ),
    "none": ("h100", {"gpus": 0}, {"cpu": "0", "nvidia.com/gpu": "0"}),
}


@pytest.mark.parametrize(("pool", "quota", "expected"), AMOUNTS.values(), ids=AMOUNTS)
def test_a_quota_is_that_share_of_the_nodes(pool, quota, expected):
    """GPUs and nodes bring CPUs, memory, disk and devices along."""
    found = amounts(everything(), pool, Quota.model_validate(quota))
    assert {name: found[name] for name in expected} == expected


def test_a_queue_covers_every_resource_of_its_pools():
    """CPUs, memory and disk come first, since a pod that requests an uncovered resource is never admitted."""
    names = covered_resources(everything(), ["h100", "mi300x", "cpu"])
    assert names[:4] == ("cpu", "memory", "ephemeral-storage", "amd.com/gpu")
    assert "nvidia.com/gpu" in names
    assert set(machine(everything(), "h100").for_jobs) <= set(names)


@pytest.mark.parametrize("fabric", ["rdma", "tcp"])
@pytest.mark.parametrize(("nodes", "gpus"), [(1, 1), (3, 2), (2, 3), (5, 4), (4, 8), (12, 8)])
def test_jobs_that_use_the_quotas_gpus_fit_its_other_resources(nodes, gpus, fabric):
    """What is derived for a job never exceeds a quota of as many GPUs as it has."""
    cluster = everything()
    sizing = make_sizing(cluster=cluster, pool="h100", nodes=nodes, gpus_per_node=gpus, fabric=fabric)
    quota = amounts(cluster, "h100", Quota(gpus=nodes * gpus))
    for name, amount in sizing.worker.requests().items():
        assert Quantity.parse(amount) * nodes <= Quantity.parse(quota[name]), name
