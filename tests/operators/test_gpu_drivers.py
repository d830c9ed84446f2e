"""Pools with drivers of their own get an NVIDIADriver each; others share the ClusterPolicy's."""

from __future__ import annotations

from typing import Any

from conftest import ROOT
from everything import everything
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.install import installed_operators
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Judge, catalog

OWN = {"gpuDriverVersion": "580.126.20"}
POOLS: dict[str, Any] = {
    "a100": {"shape": "dgx-a100", "nodes": 2, "system": OWN, "taints": [{"key": "gpu", "value": "a100"}]},
    "h100": {"shape": "dgx-h100", "nodes": 2},
    "image": {"shape": "dgx-h200", "nodes": 2, "system": {"gpuDriver": "system"}},
}
ROCE: dict[str, Any] = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}


def site(**changes: Any) -> Cluster:
    """Return a cluster with three pools, of which one has a driver in its image."""
    return everything(**{"pools": POOLS, "queues": {}, "topology": [], "fabric": ROCE, **changes})


def hardware(cluster: Cluster) -> dict[str, Resource]:
    """Return the NVIDIADrivers of a cluster, by name."""
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == "gpu-operator")
    return {item.name: item for item in pair[1].hardware(pair[0]) if item.kind == "NVIDIADriver"}


def test_each_pool_gets_the_release_that_it_names():
    """A pool without one gets the operator's, one with a driver in its image gets none, and nodes are not shared."""
    found = hardware(site())
    assert {name: item.fields["spec"]["version"] for name, item in found.items()} == {
        "a100": "580.126.20",
        "h100": "595.91.07",
    }
    assert {name: item.fields["spec"]["nodeSelector"] for name, item in found.items()} == {
        name: {"trainyard.dev/pool": name} for name in found
    }
    assert {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"} in found["a100"].fields["spec"]["tolerations"]


def test_modules_follow_from_the_pool():
    """The pool on the fabric loads the open modules; the other gets those that its GPUs need."""
    kinds = {name: item.fields["spec"]["kernelModuleType"] for name, item in hardware(site()).items()}
    assert kinds == {"a100": "auto", "h100": "open"}


def test_one_driver_needs_no_object_of_its_own():
    """Where no pool names a release, the ClusterPolicy has it, for the whole cluster if the cluster names one."""
    pools = {"h100": {"shape": "dgx-h100", "nodes": 2}}
    cluster = site(pools=pools, system=OWN)
    assert hardware(cluster) == {}
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == "gpu-operator")
    spec = policy(pair[0])["driver"]
    assert spec["version"] == "580.126.20"
    assert "useNvidiaDriverCRD" not in spec


def test_the_api_server_takes_every_driver():
    """The objects are what the operator's own types describe."""
    cluster = site()
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == "gpu-operator")
    assert policy(pair[0])["driver"]["useNvidiaDriverCRD"] is True
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"gpu-operator": "26.7.0"})[0])
    text = "---\n".join(
        dump(item.value()) for item in pair[1].hardware(pair[0]) if item.api_version.startswith("nvidia")
    )
    manifests, _ = expand(load(text.encode(), file="x.yaml")[0])
    assert len(manifests) == 3
    for manifest in manifests:
        judged = judge.judge(manifest)
        assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])
