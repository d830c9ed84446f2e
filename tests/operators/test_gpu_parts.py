"""The GPU Operator cuts and shares GPUs as the pools say, and leaves all others whole."""

from __future__ import annotations

from make import make_cluster
from trainyard.base.documents import load
from trainyard.render.operators.gpu_operator import OPERATOR
from trainyard.render.operators.install import sites

POOLS = {
    "whole": {"shape": "dgx-h100", "nodes": 2},
    "halves": {"shape": "dgx-h100", "nodes": 1, "mig": {"layout": {"3g.40gb": 2}}},
    "some": {"shape": "dgx-a100", "nodes": 1, "mig": {"layout": {"1g.10gb": 7}, "gpus": [6, 7]}},
    "slices": {"shape": "dgx-h100", "nodes": 1, "sharing": {"by": "timeSlicing", "replicas": 4}},
    "together": {"shape": "dgx-h100", "nodes": 1, "sharing": {"by": "mps", "replicas": 2}},
}


def objects(pools):
    """Return the operator's hardware by kind and name."""
    cluster = make_cluster(pools=pools, operators={"gpu-operator": {"version": "26.7.0"}}, queues={})
    (site,) = sites(cluster)
    return {(item.kind, item.name): item.value() for item in OPERATOR.hardware(site)}


def text(config):
    """Return what a text of a ConfigMap says."""
    (document,), _ = load(config.encode(), file="config.yaml")
    return document.value


def test_every_pool_has_a_configuration_of_its_own_name():
    """Nodes get theirs by a label; those without one stay whole."""
    found = objects(POOLS)
    layouts = text(found["ConfigMap", "trainyard-mig"]["data"]["config.yaml"])["mig-configs"]
    assert layouts == {
        "all-disabled": [{"devices": "all", "mig-enabled": False}],
        "halves": [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.40gb": 2}}],
        "some": [
            {"devices": [6, 7], "mig-enabled": True, "mig-devices": {"1g.10gb": 7}},
            {"devices": [0, 1, 2, 3, 4, 5], "mig-enabled": False},
        ],
    }
    shares = {name: text(value) for name, value in found["ConfigMap", "trainyard-device-plugin"]["data"].items()}
    assert shares["whole"] == {"version": "v1"}
    assert shares["together"]["sharing"] == {
        "mps": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}
    }
    assert shares["slices"]["sharing"]["timeSlicing"]["failRequestsGreaterThanOne"]


def test_the_cluster_policy_names_them():
    """MIG manager and device plugin read the ConfigMaps, and have what is whole as default."""
    spec = objects(POOLS)["ClusterPolicy", "cluster-policy"]["spec"]
    assert spec["mig"] == {"strategy": "mixed"}
    assert spec["migManager"]["config"] == {"name": "trainyard-mig", "default": "all-disabled"}
    assert spec["devicePlugin"]["config"] == {"name": "trainyard-device-plugin", "default": "whole"}


def test_whole_gpus_need_no_configuration():
    """Where no GPU is cut or shared there is the ClusterPolicy alone, by which GPUs that were cut become whole."""
    found = objects({"whole": POOLS["whole"]})
    assert list(found) == [("ClusterPolicy", "cluster-policy")]
    spec = found["ClusterPolicy", "cluster-policy"]["spec"]
    assert spec["mig"] == {"strategy": "single"}
    assert spec["migManager"]["config"] == {"default": "all-disabled"}
    assert "config" not in spec["devicePlugin"]
