"""Modes of AMD GPUs: counts follow from them, and a pair that the GPUs lack is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everything import source
from make import make_cluster, make_pool, make_sizing
from trainyard.judge.preflight.cluster.partitions import check
from trainyard.render.operators.amd_gpu_operator import OPERATOR
from trainyard.render.operators.install import sites
from trainyard.render.sizing.gpus import per_node

CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "MI300X in eight parts": ("mi300x", {"compute": "CPX", "memory": "NPS4"}, []),
    "MI300X whole": ("mi300x", {"compute": "SPX"}, []),
    "MI300X whole with split memory": (
        "mi300x",
        {"compute": "SPX", "memory": "NPS4"},
        ["partition is SPX/NPS4, which MI300 GPUs do not have; use one of SPX/NPS1, DPX/NPS1, QPX/NPS1"],
    ),
    "MI300X with two ranges": ("mi300x", {"compute": "DPX", "memory": "NPS2"}, ["partition is DPX/NPS2"]),
    "MI325X with two ranges": ("mi325x", {"compute": "DPX", "memory": "NPS2"}, []),
    "MI355X with two ranges": ("mi355x", {"compute": "CPX", "memory": "NPS2"}, []),
    "MI355X with four ranges": ("mi355x", {"compute": "CPX", "memory": "NPS4"}, ["which MI350 or MI355X GPUs do not"]),
    "MI210": ("mi210", {"compute": "CPX"}, ["which MI100 or MI200 GPUs do not have; remove it"]),
    "NVIDIA": ("dgx-h100", {"compute": "CPX"}, ["but pool 'gpu' has GPUs of nvidia; remove it"]),
    "no GPUs": ("cpu-64", {"compute": "CPX"}, ["but pool 'gpu' has no GPUs; remove it"]),
    "a misspelt shape": ("mi300", {"compute": "CPX"}, []),
}


@pytest.mark.parametrize(("shape", "partition", "expected"), CASES.values(), ids=CASES)
def test_a_partition_is_a_mode_of_the_gpus(shape, partition, expected):
    """What the driver refuses is refused here, with the modes that there are."""
    own = {"pools": {"gpu": {"shape": shape, "nodes": 1, "partition": partition}}, "queues": {}, "operators": {}}
    found = list(check(make_cluster(**own), source(**own)))
    assert len(found) == len(expected)
    assert all(words in item.message for item, words in zip(found, expected, strict=True))


def test_nodes_show_the_gpus_that_cards_become():
    """Counts, memory and NUMA nodes are those of the parts, and a job gets as many processes."""
    pool = make_pool(shape="mi300x", partition={"compute": "CPX", "memory": "NPS4"})
    gpus = pool.node.gpus
    assert gpus is not None
    assert (gpus.count, gpus.memory, per_node(pool)) == (64, str(24 * 2**30), {"amd.com/gpu": 64})
    assert [len(numa.gpus) for numa in pool.node.numa] == [32, 32]
    assert sorted(gpu for numa in pool.node.numa for gpu in numa.gpus) == list(range(64))
    pools = {"gpu": {"shape": "mi300x", "nodes": 2, "partition": {"compute": "DPX"}}}
    cluster = make_cluster(pools=pools, queues={}, operators={}, fabric=None)
    worker = make_sizing(cluster=cluster, gpus_per_node=16).worker
    assert {name: sized.value for name, sized in worker.devices.items()} == {"amd.com/gpu": 16}


def test_the_operator_sets_the_mode():
    """The pool's DeviceConfig starts the manager, whose profile is for all cards of a node."""
    own = {"pools": {"amd": {"shape": "mi300x", "nodes": 1, "partition": {"compute": "CPX", "memory": "NPS4"}}}}
    cluster = make_cluster(**own, queues={}, operators={"amd-gpu-operator": {"version": "1.5.1"}}, fabric=None)
    (site,) = sites(cluster)
    profiles, config = list(OPERATOR.hardware(site))
    assert config.fields["spec"]["configManager"]["config"] == {"name": profiles.name}
    (profile,) = json.loads(profiles.fields["data"]["config.json"])["gpu-config-profiles"]["amd"]["profiles"]
    assert profile == {"computePartition": "CPX", "memoryPartition": "NPS4", "numGPUsAssigned": 8}
