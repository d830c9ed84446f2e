"""Node Feature Discovery by itself labels nodes as the operators that leave theirs out would."""

from __future__ import annotations

from everything import OPERATORS, everything
from trainyard.render.operators.install import installed_operators, values

NAME = "node-feature-discovery"


def test_labels_are_those_that_operators_select_nodes_by():
    """Vendors of NICs and GPUs, on every node whatever its taints."""
    cluster = everything(operators={**OPERATORS, NAME: {"version": "0.19.0"}})
    (given,) = (values(site, operator) for site, operator in installed_operators(cluster) if site.name == NAME)
    pci = given["worker"]["config"]["sources"]["pci"]
    assert pci["deviceLabelFields"] == ["vendor"]
    assert {"02", "0207", "03", "0302", "12"} <= set(pci["deviceClassWhitelist"])
    keys = [taint["key"] for taint in given["worker"]["tolerations"]]
    assert keys == ["node-role.kubernetes.io/control-plane", "nvidia.com/gpu", "amd.com/gpu"]


def test_its_chart_is_installed_in_a_namespace_of_its_own():
    """From the project's registry, at the release."""
    cluster = everything(operators={**OPERATORS, NAME: {"version": "0.19.0"}})
    (site,) = (site for site, _ in installed_operators(cluster) if site.name == NAME)
    assert site.facts.chart is not None
    assert (site.facts.chart.repository, site.facts.namespace) == ("registry.k8s.io/nfd/charts", NAME)
    assert (site.facts.own_namespace, site.facts.pod_security) == (True, "privileged")
