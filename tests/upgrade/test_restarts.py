"""An upgrade names the Deployments and DaemonSets that its chart has, as Helm names them."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from helm.renders import recorded
from trainyard.change.upgrade.steps import restarted
from trainyard.specs import Cluster
from trainyard.specs.load import read_repository
from trainyard.specs.releases import releases

CLUSTERS = read_repository(ROOT).specs.clusters
OF_OTHERS = {"gpu-operator", "amd-gpu-operator", "sriov-network-operator", "ceph-csi-drivers"}
"""Operators that make daemons themselves, from an object of `hardware/` or from a custom resource."""

CASES = {case["name"]: (case, answer) for case, answer in recorded("charts.jsonl.gz")}


def programs(answer: dict[str, Any]) -> set[str]:
    """Return the names of the Deployments and DaemonSets of a chart."""
    kinds = ("apps/Deployment ", "apps/DaemonSet ", "apps/StatefulSet ")
    return {thing.rpartition(" ")[2] for thing in answer["objects"] if thing.startswith(kinds)}


def named(operator: str, cluster: Cluster) -> set[str]:
    """Return the names that an upgrade says, without the number of pods."""
    return {text.partition(" (")[0] for text in restarted(operator, releases()[operator], cluster)}


@pytest.mark.parametrize("name", CASES)
def test_what_restarts_is_what_the_chart_has(name: str) -> None:
    """No program of the chart is passed over, and none has a name that nobody finds on the cluster."""
    case, answer = CASES[name]
    operator = case["release"] if case["release"] in releases() else case["chart"].partition("/")[0]
    cluster = CLUSTERS[name.partition("/")[0]]
    found, there = named(operator, cluster), programs(answer)
    assert there <= found
    assert operator in OF_OTHERS or found == there
