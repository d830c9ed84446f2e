"""A pool says who may open its GPUs."""

from __future__ import annotations

import pytest

from make import make_cluster, make_source
from trainyard.judge.preflight.cluster.device_access import check

POOLS = {
    "AMD GPUs that nobody may open": ({"shape": "mi300x"}, True),
    "groups": ({"shape": "mi300x", "deviceAccess": [109]}, False),
    "a rule": ({"shape": "mi300x", "deviceAccess": "udev"}, False),
    "open": ({"shape": "mi300x", "deviceAccess": "open"}, False),
    "NVIDIA": ({"shape": "dgx-h100"}, False),
    "CPUs": ({"shape": "cpu-64"}, False),
    "a shape that does not exist": ({"shape": "mi3000"}, False),
}


@pytest.mark.parametrize(("pool", "expected"), POOLS.values(), ids=POOLS)
def test_a_pool_with_amd_gpus_says_who_may_open_them(pool, expected):
    """NVIDIA's device files are open to all; AMD's are on some distributions."""
    cluster = make_cluster(pools={"gpu": {**pool, "nodes": 4}})
    value = cluster.model_dump(by_alias=True, exclude_unset=True, mode="json")
    found = list(check(cluster, make_source("platform/clusters/test.yaml", value)))
    message = "pool 'gpu' has AMD GPUs, but no deviceAccess; set it to groups, udev or open"
    assert [item.message for item in found] == [message] * expected
    assert all(item.location.line for item in found)
