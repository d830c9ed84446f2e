"""Settings with which a kubelet would not start, or would refuse every pod, are reported."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, KUBELET, source
from make import CPU_NODE, fields, make_cluster, write_repository
from trainyard.judge.preflight import check_repository
from trainyard.judge.preflight.cluster.kubelet import check
from trainyard.specs import Cluster
from trainyard.specs.reading.document import validate

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "half a core kept": (
        {**KUBELET, "reservedSystemCPUs": "0-8"},
        "numa-full-pcpus",
        "reservedSystemCPUs has 9 CPUs, which are not whole cores of 2 threads; list all threads of each core",
    ),
    "fewer CPUs kept than the shape says": (
        {**KUBELET, "reservedSystemCPUs": "0-1"},
        "numa-guaranteed",
        "reservedSystemCPUs has 2 CPUs, but the shape reserves 8; list more CPUs",
    ),
}


@pytest.mark.parametrize(("kubelet", "rule", "message"), WRONG.values(), ids=WRONG)
def test_settings_that_the_kubelet_refuses_are_reported(kubelet, rule, message):
    """What would keep a node from starting is said in the pull request."""
    pools = {"h100": {"shape": "dgx-h100", "nodes": 4, "kubelet": kubelet}}
    found = list(check(make_cluster(pools=pools), source(pools=pools)))
    assert [(item.rule, item.message) for item in found] == [(rule, message)]
    assert found[0].path == "pools.h100.kubelet.reservedSystemCPUs"


def test_managers_need_something_kept_for_the_system():
    """On a shape that reserves nothing, static CPUs and static memory are both refused."""
    pools = {"laptop": {"shape": "kind-8", "nodes": 1, "kubelet": KUBELET}}
    found = list(check(make_cluster(pools=pools), source(pools=pools)))
    assert [item.rule for item in found] == ["numa-guaranteed", "numa-memory-mgr"]


MANY = {"cpus": 9, "numa": [{"cpus": str(node), "memory": "1Gi"} for node in range(9)]}
ALIGNED = {"topologyManagerPolicy": "best-effort"}
SLACK = {"max-allowable-numa-nodes": "9"}
TOPOLOGY: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "more NUMA nodes than it takes": (MANY, ALIGNED, ["numa-max"]),
    "as many as it is told to take": (MANY, {**ALIGNED, "topologyManagerPolicyOptions": SLACK}, []),
    "more than it takes, but switched off": (MANY, {}, []),
    "fewer than it may be told": (
        {},
        {**ALIGNED, "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "7"}},
        ["node/topology-options"],
    ),
    "no number": (
        {},
        {**ALIGNED, "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "many"}},
        ["node/topology-options"],
    ),
    "a number that no kubelet reads": (
        {},
        {**ALIGNED, "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "٣٣"}},
        ["node/topology-options"],
    ),
    "a number without end": (
        {},
        {**ALIGNED, "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "9" * 5000}},
        ["node/topology-options"],
    ),
    "no boolean": (
        {},
        {**ALIGNED, "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "yes"}},
        ["node/topology-options"],
    ),
    "no boolean, but nobody reads it": ({}, {"topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "yes"}}, []),
    "a boolean": ({}, {**ALIGNED, "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "True"}}, []),
}


@pytest.mark.parametrize(("shape", "kubelet", "rules"), TOPOLOGY.values(), ids=TOPOLOGY)
def test_options_of_the_topology_manager_are_such_that_it_starts(shape, kubelet, rules):
    """They are read only where there is a policy."""
    pools = {"cpu": {"shape": fields(CPU_NODE, shape), "nodes": 1, "kubelet": kubelet}}
    assert [item.rule for item in check(make_cluster(pools=pools), source(pools=pools))] == rules


@pytest.mark.parametrize("shape", ["dgx-h10", "cpu"])
def test_a_shape_that_does_not_exist_is_said_once(shape, tmp_path):
    """What follows from a shape is left out where there is none, whatever else the pool says."""
    pool = {"shape": shape, "nodes": 4, "kubelet": KUBELET, "spot": True, "localDisks": {"size": "1Ti"}}
    cluster = {**EVERYTHING, "pools": {**EVERYTHING["pools"], "h100": pool}}
    root = write_repository(tmp_path, jobs={}, clusters={"test": cluster})
    found = [finding for finding in check_repository(root).findings if finding.rule == "spec/unknown-shape"]
    assert [item.path for item in found] == ["pools.h100.shape"]


def test_a_misspelt_option_is_said_at_its_name():
    """A kubelet does not start with an option that it does not know."""
    pools = {"cpu": {"shape": CPU_NODE, "nodes": 1, "kubelet": {"cpuManagerPolicyOptions": {"full-pcpu-only": "true"}}}}
    _, (found, *_) = validate(Cluster, source(pools=pools, queues={}))
    assert found.path == "pools.cpu.kubelet.cpuManagerPolicyOptions.full-pcpu-only"
    assert found.message.endswith("does not exist; did you mean 'full-pcpus-only'?")


RUNTIMES = {
    "CRI-O beside kubeadm": ({"distribution": "kubeadm", "runtime": "cri-o"}, None),
    "OpenShift's own": ({"distribution": "openshift"}, None),
    "OpenShift's own, said": ({"distribution": "openshift", "runtime": "cri-o"}, None),
    "containerd on OpenShift": (
        {"distribution": "openshift", "runtime": "containerd"},
        "runtime of 'cpu' is 'containerd', but openshift has its own, cri-o; remove it",
    ),
    "CRI-O under k3s": (
        {"distribution": "k3s", "runtime": "cri-o"},
        "runtime of 'cpu' is 'cri-o', but k3s has its own, containerd; remove it",
    ),
}


@pytest.mark.parametrize(("system", "message"), RUNTIMES.values(), ids=RUNTIMES)
@pytest.mark.parametrize("where", ["cluster", "pool"])
def test_a_distribution_has_the_runtime_that_it_brings(system, message, where):
    """A limit that is lifted for another runtime is lifted for nobody."""
    pool = {"shape": "cpu-64", "nodes": 1, **({"system": system} if where == "pool" else {})}
    changes = {"pools": {"cpu": pool}, **({"system": system} if where == "cluster" else {})}
    found = list(check(make_cluster(**changes), source(**changes)))
    assert [item.message for item in found] == ([message] if message else [])
    path = "pools.cpu.system.runtime" if where == "pool" else "system.runtime"
    assert all((item.rule, item.path) == ("node/runtime", path) for item in found)


def test_a_cluster_that_leaves_the_kubelet_to_its_provider_has_nothing_to_check():
    """Pools without kubelet settings are not ours to configure."""
    assert list(check(make_cluster(), source())) == []
