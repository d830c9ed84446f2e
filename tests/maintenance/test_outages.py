"""Which nodes a change takes out: who does it, how many at a time, and which pods leave."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster
from trainyard.change.maintenance import hardware, software
from trainyard.change.maintenance.outage import Outage
from trainyard.change.maintenance.windows import begins
from trainyard.specs import Cluster

H100 = {"shape": "hgx-h100", "nodes": 10}
BARE: dict[str, Any] = {"topology": [], "queues": {}}
OPERATORS = {"gpu-operator": {"version": "26.7.0"}, "amd-gpu-operator": {"version": "1.5.1"}}
ROCE: dict[str, Any] = {
    "type": "infiniband",
    "attach": "sriov",
    "subnetManager": "UFM",
    "addresses": "10.96.0.0/16",
    "pools": ["h100"],
}


def site(**changes: Any) -> Cluster:
    """Return a cluster of H100 and MI300X nodes."""
    pools = {"h100": H100, "mi300x": {"shape": "mi300x", "nodes": 4}}
    return make_cluster(**{**BARE, "pools": pools, "operators": OPERATORS, **changes})


def policy(version: str, **upgrades: Any) -> dict[str, Any]:
    """Return a ClusterPolicy with a driver and its policy of upgrades."""
    driver = {"version": version, "upgradePolicy": upgrades or {"autoUpgrade": False}}
    return {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": {"driver": driver}}


def device_config(version: str, **upgrades: Any) -> dict[str, Any]:
    """Return a DeviceConfig of the pool of MI300X nodes."""
    driver = {"enable": True, "version": version, "upgradePolicy": upgrades or {"enable": False}}
    return {"kind": "DeviceConfig", "metadata": {"name": "mi300x"}, "spec": {"driver": driver}}


def nics(version: str, **upgrades: Any) -> dict[str, Any]:
    """Return a NicClusterPolicy with a driver of NICs."""
    driver = {"version": version, "upgradePolicy": {"autoUpgrade": True, **upgrades}}
    return {"kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy"}, "spec": {"ofedDriver": driver}}


def functions(count: int) -> dict[str, Any]:
    """Return a SriovNetworkNodePolicy."""
    spec = {"nodeSelector": {"trainyard.dev/pool": "h100"}, "numVfs": count, "resourceName": "rail_0"}
    return {"kind": "SriovNetworkNodePolicy", "metadata": {"name": "h100-rail-0"}, "spec": spec}


OF_NICS = {"fabric": ROCE, "system": {"nicDriver": "operator"}}
AUTO: dict[str, Any] = {"autoUpgrade": True}
CASES: dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]] = {
    "a driver by hand": (
        policy("580.1"),
        policy("595.1"),
        {},
        {"by": "a person", "at_a_time": None, "rounds": None, "ends": "pods with GPUs", "nodes": 10},
    ),
    "a driver by the operator, one node at a time": (
        policy("580.1"),
        policy("595.1", **AUTO),
        {},
        {"by": "the GPU Operator", "at_a_time": 1, "rounds": 10, "seconds": 300, "keeps_local": True},
    ),
    "without a bound in parallel a quarter is out, rounded up": (
        policy("580.1"),
        policy("595.1", **AUTO, maxParallelUpgrades=0, podDeletion={"deleteEmptyDir": True, "timeoutSeconds": 0}),
        {},
        {"at_a_time": 3, "rounds": 4, "seconds": None, "keeps_local": False},
    ),
    "a drain takes what the deletion leaves": (
        policy("580.1"),
        policy("595.1", **AUTO, maxUnavailable=2, drain={"enable": True, "deleteEmptyDir": True, "timeoutSeconds": 60}),
        {},
        {"at_a_time": 1, "seconds": 60, "keeps_local": False},
    ),
    "AMD's operator takes a quarter of four nodes": (
        device_config("6.4"),
        device_config("7.0", enable=True, maxParallelUpgrades=3, nodeDrainPolicy={"timeoutSeconds": 600}),
        {},
        {"by": "AMD's GPU Operator", "at_a_time": 1, "nodes": 4, "seconds": 600, "budgets": True},
    ),
    "AMD's operator deletes pods past their budgets": (
        device_config("6.4"),
        device_config("7.0", enable=True, maxUnavailableNodes="100%", maxParallelUpgrades=0, podDeletionPolicy={}),
        {},
        {"at_a_time": 4, "rounds": 1, "budgets": False},
    ),
    "a driver of NICs ends all pods": (
        nics("1"),
        nics("2", maxParallelUpgrades=0, drain={"deleteEmptyDir": True}),
        OF_NICS,
        {"by": "the Network Operator", "ends": "all pods", "at_a_time": 10, "keeps_local": False},
    ),
    "other virtual functions": (
        functions(4),
        functions(8),
        {"fabric": ROCE},
        {"by": "the SR-IOV operator", "ends": "pods with virtual functions", "at_a_time": 1, "seconds": None},
    ),
}


@pytest.mark.parametrize(("old", "new", "changes", "expected"), CASES.values(), ids=CASES)
def test_outage(old: Any, new: Any, changes: dict[str, Any], expected: dict[str, Any]) -> None:
    """Operators take nodes out as their policies say."""
    (found,) = hardware.outages(site(**changes), [(old, new)])
    assert {field: getattr(found, field) for field in expected} == expected
    assert begins(site(), found).startswith("once somebody syncs hardware/, never during 0 6 * * 1-5 for 14h (UTC)")


NONE: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "how a driver is upgraded": (policy("580.1"), policy("580.1", **AUTO), {}),
    "another part of the ClusterPolicy": (policy("580.1"), {**policy("580.1"), "metadata": {"name": "x"}}, {}),
    "a driver of nodes whose image brings it": (policy("580.1"), policy("595.1"), {"system": {"gpuDriver": "system"}}),
    "a new object": (None, policy("595.1"), {}),
    "functions of another name": (
        functions(4),
        {**functions(4), "spec": {**functions(4)["spec"], "resourceName": "rail_1"}},
        {"fabric": ROCE},
    ),
    "an AMD driver that is off": (
        device_config("6.4"),
        {**device_config("7.0"), "spec": {"driver": {"enable": False, "version": "7.0"}}},
        {},
    ),
}


@pytest.mark.parametrize(("old", "new", "changes"), NONE.values(), ids=NONE)
def test_no_outage(old: Any, new: Any, changes: dict[str, Any]) -> None:
    """What does not change a driver or functions takes no node out."""
    assert list(hardware.outages(site(**changes), [(old, new)])) == []


def kubernetes(distribution: str) -> Outage:
    """Return the outage of the pool of H100 nodes by another Kubernetes."""
    cluster = site(system={"distribution": distribution}, pools={"h100": H100})
    return next(software.kubernetes(cluster, "1.35", "1.36"))


def test_kubernetes() -> None:
    """Another Kubernetes drains nodes as their distribution does it; Talos drains none."""
    eks, hand, talos = (kubernetes(name) for name in ("eks", "kubeadm", "talos"))
    assert (eks.at_a_time, eks.seconds, eks.rounds, eks.synced) == (1, 900, 10, False)
    assert (hand.by, hand.at_a_time, hand.ends) == ("a person", None, "all pods")
    assert talos.ends == "no pods"
    assert begins(site(), hand) == "as soon as a person does it; windows of Argo CD do not hold it"


def test_karpenter_keeps_nodes() -> None:
    """Karpenter's budget keeps drifted nodes until they are empty, so no run ends."""
    pool = {"shape": "aws-p5-48xlarge", "nodes": {"min": 0, "max": 8}}
    cluster = site(pools={"p5": pool}, system={"distribution": "eks"})
    old, new, more = (
        {
            "kind": "NodePool",
            "metadata": {"name": "p5"},
            "spec": {"template": {"spec": image}, "limits": {"nodes": count}},
        }
        for image, count in (("a", 4), ("b", 4), ("a", 8))
    )
    assert list(hardware.outages(cluster, [(old, more)])) == []
    found = [*hardware.outages(cluster, [(old, new)]), *software.kubernetes(cluster, "1.35", "1.36")]
    found += software.settings(cluster, ["p5"])
    assert [(one.by, one.ends) for one in found] == [("Karpenter", "no pods")] * 3
