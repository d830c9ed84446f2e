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


def spec_of(cluster: Cluster, values: dict[str, Any]) -> dict[str, Any]:
    """Return the ClusterPolicy's driver with values of the chart."""
    operators = {"gpu-operator": {"version": "26.7.0", "values": values}}
    changed = cluster.model_copy(update={"operators": everything(operators=operators).operators})
    (pair,) = installed_operators(changed)
    return dict(policy(pair[0])["driver"])


def test_the_release_of_a_field_wins_over_the_charts_value():
    """What the checks judge is what nodes get: the pool's field, the cluster's, the value, the operator's release."""
    pools = {"h100": {"shape": "dgx-h100", "nodes": 2}}
    said = {"driver": {"version": "590.48.01"}}
    assert spec_of(site(pools=pools, system=OWN), said)["version"] == "580.126.20"
    assert spec_of(site(pools=pools), said)["version"] == "590.48.01"
    assert spec_of(site(pools=pools), {})["version"] == "595.91.07"
    operators = {"gpu-operator": {"version": "26.7.0", "values": said}}
    found = hardware(site(operators=operators))
    assert [found[name].fields["spec"]["version"] for name in ("a100", "h100")] == ["580.126.20", "590.48.01"]


def test_a_policy_names_no_release_beside_drivers_of_pools():
    """The operator reads the NVIDIADrivers alone then, as with the chart's own template."""
    assert not {"image", "manager", "repository", "version"} & spec_of(site(), {}).keys()


def test_values_of_the_driver_are_fields_of_every_nvidiadriver():
    """Those with another name there, as in the chart's template; sections that are switched on have an image."""
    driver = {
        "upgradePolicy": {"gpuPodDeletion": {"force": True}},
        "repoConfig": {"configMapName": "mirror"},
        "licensingConfig": {"configMapName": "licence", "secretName": ""},
        "virtualTopology": {"config": "topology"},
        "certConfig": {"name": "certificates"},
    }
    values = {"driver": driver, "gds": {"enabled": True}, "gdrcopy": {"enabled": True}}
    spec = hardware(site(operators={"gpu-operator": {"version": "26.7.0", "values": values}}))["h100"].fields["spec"]
    assert spec["upgradePolicy"] == {"autoUpgrade": False, "podDeletion": {"force": True}}
    assert (spec["repoConfig"], spec["virtualTopologyConfig"]) == ({"name": "mirror"}, {"name": "topology"})
    assert spec["gds"].items() >= {"enabled": True, "image": "nvidia-fs", "version": "2.29.4"}.items()
    assert spec["gdrcopy"].items() >= {"enabled": True, "image": "gdrdrv", "version": "v2.6"}.items()
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"gpu-operator": "26.7.0"})[0])
    manifests, _ = expand(load(dump({**HEAD, "spec": spec}).encode(), file="x.yaml")[0])
    judged = judge.judge(manifests[0])
    assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])


HEAD = {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": {"name": "h100"}}
