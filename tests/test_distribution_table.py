"""The table of distributions and operators: every cell follows from the data, and is what the checks say."""

from __future__ import annotations

import runpy
import sys
from typing import Any
from unittest import mock

import pytest

from conftest import ROOT
from make import make_cluster, make_source, make_specs
from trainyard.base.versions import order
from trainyard.judge.preflight.cluster.distribution import EXCLUDED, check
from trainyard.render.clusters import folders
from trainyard.render.operators import operators
from trainyard.specs.distributions import distributions
from trainyard.specs.releases import releases

TOOLS = str(ROOT / "tools")
with mock.patch.object(sys, "path", [TOOLS, *sys.path]):
    PAGE = runpy.run_path(f"{TOOLS}/docs_distributions.py")

TABLE: dict[str, dict[str, str]] = PAGE["table"]()
CELLS = [(name, operator) for name, row in TABLE.items() for operator in row]
REFUSED: str = PAGE["REFUSED"]
MACHINES = {"aws": "aws-p5-48xlarge", "google": "gke-a3-megagpu-8g"}

GPUDIRECT = {
    "type": "gpudirect-tcpxo",
    "networks": [f"vpc{number}" for number in range(1, 9)],
    "daemon": f"registry.example.com/mirror/tcpgpudmarxd-dev:v1.0.21@sha256:{'4f0c7e2ab95d8136' * 4}",
}


LAB = {"team": "nlp", "pool": "gpu", "cpus": 8, "memory": "16Gi", "storage": "local"}


def changes(name: str, operator: str) -> dict[str, Any]:
    """Return a small cluster of a distribution with one operator, on machines that it can run on."""
    facts = releases()[operator]
    shape = MACHINES.get(facts.provider or distributions()[name].provider or "", "dgx-h100")
    choice = {"version": max(facts.releases, key=order), **({} if facts.installable else {"managed": False})}
    return {
        "pools": {"gpu": {"shape": shape, "nodes": 2}},
        "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 8}}}},
        "topology": None,
        "system": {"distribution": name},
        "virtual_clusters": {"lab": LAB} if operator == "vcluster" else {},
        "fabric": GPUDIRECT if operator == "gke-gpudirect" else None,
        "operators": {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, operator: choice},
    }


def test_every_operator_has_a_cell_for_every_distribution():
    """What can be installed, and what is bound to one cloud."""
    assert set(TABLE) == set(distributions())
    bound = {name for name, facts in releases().items() if facts.provider}
    assert all(set(row) == set(operators()) | bound for row in TABLE.values())
    assert all(text for row in TABLE.values() for text in row.values())


@pytest.mark.parametrize(("name", "operator"), CELLS, ids=[f"{name}-{operator}" for name, operator in CELLS])
def test_a_cell_says_what_happens(name, operator):
    """A refused operator is an error of the cluster that names it; any other is rendered, and is none."""
    said = changes(name, operator)
    found = [one for one in check(make_cluster(**said), make_source("cluster.yaml", said)) if one.rule == EXCLUDED.id]
    if TABLE[name][operator].startswith(REFUSED):
        (finding,) = found
        assert finding.path == f"operators.{operator}"
        assert TABLE[name][operator].removeprefix(REFUSED) in finding.message
        return
    assert found == []
    made = folders(make_specs(clusters={"test": make_cluster(**said)}), "test")
    assert all(item.value() for folder in made.values() for item in folder)
    names = " ".join([*made, *(item.name for folder in made.values() for item in folder)])
    assert (operator in names) == (operator in operators())


def privileged(operator: str) -> bool:
    """Whether an operator's pods are privileged or mount folders of nodes, by its namespace or its objects."""
    said = changes("systemd", operator)
    made = folders(make_specs(clusters={"test": make_cluster(**said)}), "test")
    text = str([item.value() for path, folder in made.items() if operator in path for item in folder])
    return releases()[operator].pod_security == "privileged" or "hostPath" in text or "'privileged': True" in text


@pytest.mark.parametrize("operator", sorted(operators()))
def test_autopilot_gets_no_privileged_daemon(operator):
    """Google refuses them there, so that none is as usual, and all others are."""
    assert TABLE["gke-autopilot"][operator].startswith(REFUSED) == privileged(operator)


def test_a_chart_that_mounts_folders_of_nodes_is_known_as_privileged():
    """The fact is what the table asks, so that an operator with daemons on nodes of GPUs or the fabric states it."""
    daemons = {
        name
        for name, facts in releases().items()
        if name in operators() and any(daemon.nodes in ("nvidia", "amd", "fabric") for daemon in facts.daemons)
    }
    assert daemons
    assert {name for name in daemons if releases()[name].pod_security != "privileged"} == set()


def test_pods_of_system_priority_get_leave_where_the_provider_asks_for_it():
    """GKE starts no such pod outside kube-system without a quota for it; one in a shared namespace is its owner's."""
    known = {name: releases()[name] for name in operators()}
    critical = {name for name, facts in known.items() if facts.critical_pods and facts.own_namespace}
    assert {"gpu-operator", "dra-driver-nvidia-gpu"} <= critical
    for name, row in TABLE.items():
        quota = {operator for operator in critical if "`ResourceQuota`" in row[operator]}
        there = {operator for operator in critical if not row[operator].startswith(REFUSED)}
        assert quota == (there if distributions()[name].critical_quota else set())
