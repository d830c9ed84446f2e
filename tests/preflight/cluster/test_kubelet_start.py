"""Kubelets start with the settings that a cluster's file gives them."""

from __future__ import annotations

import pytest

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.kubelet_start import check

PINNED = {"cpuManagerPolicy": "static"}


CONFIGURATIONS = {
    "options that exclude each other": (
        {**PINNED, "cpuManagerPolicyOptions": {"align-by-socket": "true", "distribute-cpus-across-cores": "yes"}},
        "does not start",
    ),
}


@pytest.mark.parametrize(("kubelet", "said"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_kubelet_that_does_not_start_is_said_at_its_settings(kubelet, said):
    """Upstream's own validation and start decide."""
    pools = {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 4, "kubelet": kubelet}}
    found = check(make_cluster(pools=pools), make_source("platform/clusters/test.yaml", {"pools": {}}))
    ((rule, message),) = [(item.rule, item.message) for item in found]
    assert rule == "numa-kubelet-starts"
    assert said in message
