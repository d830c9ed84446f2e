"""A gate of Kueue that the cluster's file needs is not turned off there, or what follows is said."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.gates import check
from trainyard.specs.load import read_repository

TOPOLOGY = "TopologyAwareScheduling"
FUNGIBLE = {
    "queues": {"research": {**CLUSTER["queues"]["research"], "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}}
}


def listed(**enabled: bool) -> dict[str, Any]:
    """Return values of Kueue's chart with these gates."""
    return {"controllerManager": {"featureGates": [{"name": name, "enabled": on} for name, on in enabled.items()]}}


def written(text: str) -> dict[str, Any]:
    """Return values of Kueue's chart with a configuration of one's own."""
    return {"managerConfig": {"controllerManagerConfigYaml": text}}


SAID = (
    "topology",
    (
        "Kueue's gate TopologyAwareScheduling is off, so it admits jobs by quota alone: their topology is ignored, and "
        "pods may find no node; turn it on"
    ),
)
FLAVORS = (
    "queues.research.flavorFungibility",
    "Kueue's gate FlavorFungibility is off, so flavorFungibility of queue 'research' has no effect; turn it on",
)

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "off in the chart's list": (listed(**{TOPOLOGY: False}), {}, [SAID]),
    "off in a configuration": (written(f"featureGates: {{{TOPOLOGY}: false}}"), {}, [SAID]),
    "on": (listed(**{TOPOLOGY: True}), {}, []),
    "not said": ({}, {}, []),
    "off, and no topology": (listed(**{TOPOLOGY: False}), {"topology": []}, []),
    "another gate": (listed(PrioritySortingWithinCohort=False), {}, []),
    "flavors that are tried in turn": (listed(FlavorFungibility=False), FUNGIBLE, [FLAVORS]),
    "flavors as Kueue tries them": (listed(FlavorFungibility=False), {}, []),
}


@pytest.mark.parametrize(("values", "changes", "expected"), CASES.values(), ids=CASES)
def test_a_gate_that_the_file_needs(values, changes, expected):
    """The finding stands at the field that has no effect."""
    operators = {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": values}}
    cluster = make_cluster(operators=operators, **changes)
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    assert [(finding.path, finding.message) for finding in check(cluster, source)] == expected


CLAIMS = "KueueDRAIntegration"


@pytest.mark.parametrize(
    ("enabled", "pools"),
    [({CLAIMS: False}, ["gb200"]), ({CLAIMS: False, "KueueDRARejectWorkloadsWhenDRADisabled": False}, []), ({}, [])],
    ids=["claims are refused", "claims are not counted", "as Kueue has it"],
)
def test_claims_of_nvlink(enabled, pools):
    """Jobs on a pool whose NVLink spans nodes claim its channels, which Kueue refuses without the gate."""
    zephyr = read_repository(ROOT).specs.clusters["zephyr"]
    kueue = zephyr.operators["kueue"].model_copy(update={"values": listed(**enabled)})
    cluster = zephyr.model_copy(update={"operators": {**zephyr.operators, "kueue": kueue}})
    found = [finding.path for finding in check(cluster, make_source("platform/clusters/zephyr.yaml", {}))]
    assert found == [f"pools.{pool}.nvlink" for pool in pools]
