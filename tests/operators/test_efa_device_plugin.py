"""Amazon's plugin for EFA: a cluster with adapters says who installs it, and ours runs on their tainted nodes."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from make import fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.pairing import check
from trainyard.judge.preflight.cluster.values import check as check_values
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.sizing.daemons import of_operators
from trainyard.specs import Cluster

NAME = "efa-device-plugin"
OURS = {NAME: {"version": "0.5.30"}}
TAINT = {"key": "nvidia.com/gpu", "value": "present"}
CHANGES: dict[str, Any] = {
    "pools": {
        "h100": {"shape": "aws-p5-48xlarge", "nodes": 2, "taints": [TAINT]},
        "cpu": {"shape": "cpu-64", "nodes": 2, "taints": [{"key": "other"}]},
    },
    "fabric": {"type": "efa"},
    "queues": {},
}


def cluster(operators: dict[str, Any], **changes: Any) -> Cluster:
    """Return a cluster of EFA nodes beside others, with some operators."""
    return make_cluster(**{**CHANGES, "operators": operators, **changes})


def findings(operators: dict[str, Any], **changes: Any) -> list[str]:
    """Return the findings on operators that speak of the plugin."""
    said = {**CHANGES, "operators": operators, **changes}
    source = make_source("platform/clusters/test.yaml", fields({}, said))
    every = check(make_cluster(**said), source)
    return [f"{item.severity} {item.rule} {item.path}: {item.message}" for item in every if NAME in item.message]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "nobody says who advertises the devices": ({}, {}, True),
    "the plugin is ours": (OURS, {}, False),
    "the plugin is somebody else's": ({NAME: {"version": "0.5.30", "managed": False}}, {}, False),
    "the fabric is another": ({}, {"fabric": {"type": "none"}}, False),
    "no node has adapters": ({}, {"pools": {"cpu": CHANGES["pools"]["cpu"]}}, False),
    "the fabric is no pool's": ({}, {"fabric": {"type": "efa", "pools": ["cpu"]}}, False),
}


@pytest.mark.parametrize(("operators", "changes", "wrong"), CASES.values(), ids=CASES)
def test_somebody_advertises_adapters(operators, changes, wrong):
    """No image of nodes brings the plugin, so pods would wait for its resource for ever."""
    message = (
        "error pairing/fabric fabric.type: fabric 'efa' needs efa-device-plugin: "
        "it advertises the devices, which no image of nodes does; add it to operators"
    )
    assert findings(operators, **changes) == ([message] if wrong else [])


def test_the_plugin_runs_on_tainted_nodes_of_the_fabric():
    """The chart tolerates critical add-ons alone; nodes without adapters are none of its affair."""
    ((site, operator),) = installed_operators(cluster(OURS))
    assert values(site, operator) == {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    }
    assert site.facts.chart is not None
    assert (site.facts.chart.name, site.facts.chart.v_prefix) == ("aws-efa-k8s-device-plugin", True)


def test_its_pod_counts_where_it_runs():
    """A node with adapters has room for one pod less; the others have none of it."""
    on = cluster(OURS)
    assert [daemon.name for daemon in of_operators(on, "h100")] == ["aws-efa-k8s-device-plugin"]
    assert [float(daemon.cpus) for daemon in of_operators(on, "h100")] == [0.01]
    assert list(of_operators(on, "cpu")) == []


VALUES = {
    "a value of the chart": ({"image": {"repository": "registry.example.com/efa"}}, 0),
    "a slip": ({"toleration": []}, 1),
}


@pytest.mark.parametrize(("said", "wrong"), VALUES.values(), ids=VALUES)
def test_its_values_are_judged_by_the_chart(said, wrong):
    """A value that the chart does not have is found, with the name that was meant."""
    operators = {NAME: {"version": "0.5.30", "values": said}}
    source = make_source("platform/clusters/test.yaml", fields({}, {**CHANGES, "operators": operators}))
    found = list(check_values(cluster(operators), source, ROOT / "schemas"))
    assert len(found) == wrong
    assert all("tolerations" in finding.message for finding in found)
