"""What NVIDIA's NIC configuration operator gets: the NICs of the fabric, and the priority of its traffic class."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from everything import OPERATORS, everything
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.releases import releases
from trainyard.upstream.apiserver import Judge, catalog

NAME = "network-operator"
ALONE = {name: choice for name, choice in OPERATORS.items() if name not in {"sriov-network-operator", "whereabouts"}}
ROCE: dict[str, Any] = {
    "type": "roce",
    "attach": "sriov",
    "addresses": "10.56.0.0/16",
    "pools": ["h100"],
    "trafficClass": 106,
    "qos": {"by": "operator"},
}


def site(**changes: Any) -> Cluster:
    """Return the cluster whose network operator sets the NICs; keywords change it, `fabric` its fabric."""
    fabric = {**ROCE, **changes.pop("fabric", {})}
    return everything(**{"operators": ALONE, "fabric": fabric, **changes})


def found(cluster: Cluster, operator: str = NAME) -> dict[tuple[str, str], Resource]:
    """Return everything that an operator adds, by kind and name."""
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == operator)
    return {(item.kind, item.name): item for item in (*pair[1].own(pair[0]), *pair[1].hardware(pair[0]))}


def template(cluster: Cluster, pool: str = "h100") -> dict[str, Any]:
    """Return the spec of a pool's template."""
    spec: dict[str, Any] = found(cluster)["NicConfigurationTemplate", pool].fields["spec"]
    return spec


def test_nics_keep_the_priority_of_the_traffic_class():
    """106 is DSCP 26, which NICs that trust DSCP put into priority 3; programs mark their own packets."""
    spec = template(site())
    assert spec["nodeSelector"] == {"trainyard.dev/pool": "h100"}
    assert spec["nicSelector"]["nicType"] == "1021"
    assert len(spec["nicSelector"]["pciAddresses"]) == 8
    assert spec["template"]["linkType"] == "Ethernet"
    assert spec["template"]["numVfs"] == 8
    qos = {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 0}
    assert spec["template"]["roceOptimized"] == {"enabled": True, "qos": qos}


CLASSES = {"AF31": (106, 3), "CS5 with ECN": (162, 5), "the lowest": (34, 1), "EF": (186, 5)}


@pytest.mark.parametrize(("traffic_class", "priority"), CLASSES.values(), ids=CLASSES)
def test_each_class_has_its_priority(traffic_class, priority):
    """Exactly one of the eight has flow control: DSCP / 8."""
    pfc = template(site(fabric={"trafficClass": traffic_class}))["template"]["roceOptimized"]["qos"]["pfc"]
    assert [index for index, on in enumerate(pfc.split(",")) if on == "1"] == [priority]


WAYS = {"functions": ("sriov", 2, 2), "one function": ("sriov", None, 8), "whole NICs": ("hostdev", None, 0)}


@pytest.mark.parametrize(("attach", "said", "functions"), WAYS.values(), ids=WAYS)
def test_firmware_allows_as_many_functions_as_are_made(attach, said, functions):
    """The SR-IOV operator, which no longer writes firmware, would fail to make more."""
    fabric = {"attach": attach, **({"virtualFunctions": said} if said else {})}
    assert template(site(fabric=fabric))["template"]["numVfs"] == functions


def test_the_sriov_operator_leaves_firmware_alone_and_waits():
    """Two operators that write firmware would boot the nodes in turn (nic-fw-configuration.rst)."""
    beside = {**OPERATORS}
    for cluster, operator in ((site(), NAME), (site(operators=beside), "sriov-network-operator")):
        spec = found(cluster, operator)["SriovOperatorConfig", "default"].fields["spec"]
        assert spec["disablePlugins"] == ["mellanox"]
        assert spec["configDaemonNodeSelector"]["network.nvidia.com/operator.nic-configuration.wait"] == "false"
        assert spec["configurationMode"] == "daemon"
    spec = found(site(fabric={"qos": {"by": "provided"}}))["SriovOperatorConfig", "default"].fields["spec"]
    assert "disablePlugins" not in spec
    assert list(spec["configDaemonNodeSelector"]) == ["trainyard.dev/pool"]


def test_it_runs_with_what_prepares_nodes():
    """The policy runs the operator and its daemon, the chart the operator that drains nodes before they boot."""
    cluster = site()
    spec = found(cluster)["NicClusterPolicy", "nic-cluster-policy"].fields["spec"]["nicConfigurationOperator"]
    assert spec["operator"]["image"] == "nic-configuration-operator"
    assert spec["configurationDaemon"]["image"] == "nic-configuration-operator-daemon"
    assert "env" not in spec
    (given,) = (values(at, known) for at, known in installed_operators(cluster) if at.name == NAME)
    assert given["maintenanceOperator"] == {"enabled": True}


def test_nics_that_keep_their_power_are_reset():
    """On machines with B200 a boot does not load the firmware's settings, so that nodes would boot for ever."""
    cluster = site(pools={"h100": {"shape": "dgx-b200", "nodes": 2, "pci": [f"0000:{i:02x}:00.0" for i in range(8)]}})
    spec = found(cluster)["NicClusterPolicy", "nic-cluster-policy"].fields["spec"]["nicConfigurationOperator"]
    assert spec["env"] == [{"name": "FW_RESET_AFTER_CONFIG_UPDATE", "value": "true"}]


NOBODY: dict[str, dict[str, Any]] = {
    "nodes set the NICs": {"fabric": {"qos": {"by": "provided"}}},
    "no class is lossless": {"fabric": {"trafficClass": None}},
    "the fabric is InfiniBand": {"fabric": {"type": "infiniband"}},
}


@pytest.mark.parametrize("changes", NOBODY.values(), ids=NOBODY)
def test_nothing_runs_where_others_set_the_nics(changes):
    """No template, no operator, and nothing that drains nodes."""
    cluster = site(**changes)
    assert "NicConfigurationTemplate" not in {kind for kind, _ in found(cluster)}
    spec = found(cluster)["NicClusterPolicy", "nic-cluster-policy"].fields["spec"]
    assert "nicConfigurationOperator" not in spec


@pytest.mark.parametrize("version", releases()[NAME].releases)
def test_what_it_gets_is_valid(version):
    """Every object has the API types of the release, which know all fields and refuse others."""
    cluster = site(operators={**ALONE, NAME: {"version": version}})
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={NAME: version})[0])
    text = "---\n".join(dump(item.value()) for item in found(cluster).values())
    manifests, _ = expand(load(text.encode(), file="x.yaml")[0])
    assert "NicConfigurationTemplate" in {manifest.kind for manifest in manifests}
    for manifest in manifests:
        judged = judge.judge(manifest)
        assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])
