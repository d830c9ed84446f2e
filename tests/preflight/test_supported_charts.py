"""An operator whose cluster-scoped kinds nobody has read is reported, whoever brings it."""

from __future__ import annotations

from typing import Any

import pytest

import recipes
from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster.supported import check
from trainyard.render.operators import operators
from trainyard.specs.releases import releases
from trainyard.specs.sources import Source

POINTS = """\
[project.entry-points."trainyard.releases"]
anvil = "acme.anvil:FACTS"
"""
MODULE = """\
from importlib.resources import files

from trainyard.specs.releases import read

FACTS = read(files(__package__) / "anvil.yaml")
"""
CHART = "namespace: anvil\nchart: {repository: registry.acme.example/charts, name: forge}\n"
MANIFESTS = "namespace: anvil\nmanifests: {repository: 'https://git.acme.example/anvil', path: config}\n"
RELEASES = "releases:\n  '1.2.0': {source: acme docs}\n"
SAYS = "the cluster-scoped kinds that anvil 1.2.0 creates are unknown"
FIXES = {
    CHART: 'pull the chart into <folder>/anvil/1.2.0/forge and run make schemas ARGS="--charts <folder>",'
    " or name clusterKinds in the facts of anvil",
    MANIFESTS: "list them as clusterKinds in the facts of anvil, or clusterKinds: [] if there are none",
}


def source(operators: dict[str, Any]) -> Source:
    """Return the file of a cluster with these operators."""
    return make_source("platform/clusters/test.yaml", {**CLUSTER, "operators": operators})


def found(folder: Any, facts: str, **choice: Any) -> list[tuple[str, str | None, str, str | None]]:
    """Return the findings on a cluster that has a company's operator `anvil`."""
    operator = {"anvil": {"version": "1.2.0", **choice}}
    with recipes.installed(folder, {"anvil.py": MODULE, "anvil.yaml": facts}, POINTS, releases, operators):
        findings = list(check(make_cluster(operators=operator), source(operator)))
        return [(finding.rule, finding.path, finding.message, finding.fix) for finding in findings]


@pytest.mark.parametrize("facts", FIXES)
def test_kinds_that_nobody_read_are_a_finding(tmp_path, facts):
    """It names the operator, its release and what to do, at the line that chooses the release."""
    expected = ("pairing/unread-chart", "operators.anvil.version", SAYS, FIXES[facts])
    assert found(tmp_path, facts + RELEASES) == [expected]


READ = {
    "its facts name the kinds": (CHART + "clusterKinds: [acme.example/Forge]\n" + RELEASES, {}),
    "its facts say that there are none": (CHART + "clusterKinds: []\n" + RELEASES, {}),
    "somebody else installs it": (CHART + RELEASES, {"managed": False}),
}


@pytest.mark.parametrize(("facts", "choice"), READ.values(), ids=READ)
def test_kinds_that_are_known_are_no_finding(tmp_path, facts, choice):
    """An empty list is an answer, and of what others install the AppProject allows nothing."""
    assert found(tmp_path, facts, **choice) == []
