"""Settings with which a kubelet would not start, or would refuse every pod, are reported."""

from __future__ import annotations

from typing import Any

import pytest

from everything import KUBELET, source
from make import make_cluster
from trainyard.preflight.kubelet import check

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "half a core kept": (
        {**KUBELET, "reservedSystemCPUs": "0-8"},
        "numa-full-pcpus",
        "reservedSystemCPUs keeps 9 CPUs, no whole cores of 2 threads; keep both threads",
    ),
    "fewer CPUs kept than the shape says": (
        {**KUBELET, "reservedSystemCPUs": "0-1"},
        "numa-guaranteed",
        "reservedSystemCPUs keeps 2 CPUs, but the shape reserves 8",
    ),
}


@pytest.mark.parametrize(("kubelet", "rule", "message"), WRONG.values(), ids=WRONG)
def test_settings_that_the_kubelet_refuses_are_reported(kubelet, rule, message):
    """What would keep a node from starting is said in the pull request."""
    pools = {"h100": {"shape": "dgx-h100", "nodes": 4, "kubelet": kubelet}}
    found = list(check(make_cluster(pools=pools), source(pools=pools)))
    assert [(each.rule, each.message) for each in found] == [(rule, message)]
    assert found[0].path == "pools.h100.kubelet.reservedSystemCPUs"


def test_managers_need_something_kept_for_the_system():
    """On a shape that reserves nothing, static CPUs and static memory are both refused."""
    pools = {"laptop": {"shape": "kind-8", "nodes": 1, "kubelet": KUBELET}}
    found = list(check(make_cluster(pools=pools), source(pools=pools)))
    assert [each.rule for each in found] == ["numa-guaranteed", "numa-memory-mgr"]


def test_a_cluster_that_leaves_the_kubelet_to_its_provider_has_nothing_to_check():
    """Pools without kubelet settings are not ours to configure."""
    assert list(check(make_cluster(), source())) == []
