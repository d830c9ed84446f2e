"""Pods that need a feature of their nodes wait for ever on nodes whose kubelets do not declare it."""

from __future__ import annotations

from typing import Any

import pytest

from kubelet.machines import gpu_node
from make import CLUSTER, make_cluster, make_resolved, make_source
from trainyard.judge.preflight.cluster import kubelet
from trainyard.judge.preflight.job import features
from trainyard.upstream.kubelet import Admitted, Kubelet, Refused

RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}
ALL = {"restartPolicy": "Never", "restartPolicyRules": [RULE]}
ONE = {"restartPolicy": "Never", "restartPolicyRules": [{**RULE, "action": "Restart"}]}
PATCH = {
    "object": "Pod",
    "reason": "the trainer ends with 88 where all have to start again",
    "merge": {"spec": {"containers": [{"name": "trainer", **ALL}]}},
}
SIDE = {"name": "side", "image": "example.com/side:1", **ALL}
NAME = "RestartAllContainersOnContainerExits"


def cluster(release: str, pool: str | None) -> Any:
    """Return a cluster of a release whose nodes run another, or the same."""
    own = {"shape": "cpu-64", "nodes": 2} | ({"kubernetes": pool} if pool else {})
    return make_cluster(kubernetes=release, pools={"cpu": own}, operators={"kueue": CLUSTER["operators"]["kueue"]})


CASES = {
    "nodes of the same release": ("1.36", None, {"containers": [SIDE]}, None),
    "older nodes": ("1.37", "1.35", {"containers": [SIDE]}, "containers[0]"),
    "nodes that are old enough to declare it": ("1.37", "1.36", {"containers": [SIDE]}, None),
    "older nodes, and a rule that restarts one container": ("1.37", "1.35", {"containers": [{**SIDE, **ONE}]}, None),
    "older nodes, and no rule": ("1.37", "1.35", {}, None),
    "a control plane that refuses the rule itself": ("1.35", "1.34", {"containers": [SIDE]}, None),
    "a patch": ("1.36", "1.35", {"patches": [PATCH]}, "patches[0].merge"),
}


@pytest.mark.parametrize(("release", "pool", "job", "expected"), CASES.values(), ids=CASES)
def test_pods_wait_for_nodes_that_declare_what_they_need(release, pool, job, expected):
    """The field that needs the feature is named, with the release of the nodes."""
    run = make_resolved(cluster=cluster(release, pool), kind="Job", pool="cpu", nodes=1, **job)
    found = [(item.path, item.message) for item in features.check(run)]
    if expected is None:
        assert not found
    else:
        message = f"role 'worker' needs {NAME}, but kubelets 1.35 of pool 'cpu' lack it"
        assert found == [(expected, message)]


NEWER = [("1.35", "1.36", True), ("1.36", "1.36.3", False), ("1.37", "1.34", False)]


@pytest.mark.parametrize(("release", "pool", "wrong"), NEWER)
def test_no_pool_is_newer_than_its_cluster(release, pool, wrong):
    """Patches do not count, and nodes may be older."""
    value = {"pools": {"cpu": {"kubernetes": pool}}}
    found = kubelet.check(cluster(release, pool), make_source("platform/clusters/test.yaml", value))
    places = [item.path for item in found if item.rule == "node/newer-kubelet"]
    assert places == (["pools.cpu.kubernetes"] if wrong else [])


GATES = {NAME: False}
ADMISSIONS = {
    "it declares the feature": ("1.36", {}, ALL, None),
    "its gate is off": ("1.36", GATES, ALL, NAME),
    "it does not look": ("1.35", {}, ALL, None),
    "it looks, as its gate is on": ("1.35", {"NodeDeclaredFeatures": True}, ALL, NAME),
    "the pod needs none": ("1.37", GATES, ONE, None),
}


@pytest.mark.parametrize(("release", "gates", "container", "lacking"), ADMISSIONS.values(), ids=ADMISSIONS)
def test_a_kubelet_refuses_what_it_does_not_declare(release, gates, container, lacking):
    """From 1.36 on, whoever sent the pod; and gives back what the pod had."""
    own = Kubelet.start(gpu_node(), {"featureGates": gates}, release=release)
    asked = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}, **container}
    free = own.managers.devices.free("nvidia.com/gpu")
    outcome = own.admit({"metadata": {"name": "p"}, "spec": {"containers": [asked]}}).outcome
    if lacking is None:
        assert isinstance(outcome, Admitted)
    else:
        message = f"Pod requires node features that are not available: {lacking}"
        assert outcome == Refused("PodFeatureUnsupported", message, outcome.merges)
        assert own.managers.devices.free("nvidia.com/gpu") == free
