"""What is known of operators agrees with what is vendored of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainyard.base.documents import load
from trainyard.base.versions import order
from trainyard.render.operators import operators
from trainyard.specs.releases import Facts, names, release, releases

KNOWN = [(name, version) for name, facts in releases().items() for version in facts.releases]
WITH_CHART = [(name, version) for name, version in KNOWN if releases()[name].chart]
UNVENDORED = {("argo-cd", "3.2.6")}
"""Releases of which only the documents were read: their schemas are those of the nearest release."""

NEAREST = {
    "the release itself": ("0.19.2", "0.19.2"),
    "another patch of a line": ("0.19.0", "0.19.2"),
    "a newer line": ("0.21.0", "0.19.2"),
    "an older line": ("0.17.3", "0.18.6"),
    "far beyond all": ("9.9.9", "0.19.2"),
    "a leading v": ("v0.18.6", "0.18.6"),
}


def facts(name: str) -> Facts:
    """Return a known operator."""
    found = release(name)
    assert found is not None
    return found


def chart_defaults(root: Path, name: str, version: str) -> dict[str, Any]:
    """Return what a chart ships."""
    chart = facts(name).chart
    assert chart is not None
    file = root / "schemas" / "charts" / chart.name / f"{version}.yaml"
    documents, findings = load(file.read_bytes(), file=file.name)
    assert not findings
    value: dict[str, Any] = documents[0].value
    return value


@pytest.mark.parametrize(("asked", "found"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_release_answers_for_one_that_is_not_known(asked, found):
    """A release that is not carried is judged by the one with the least distance."""
    assert facts("kueue").nearest(asked) == found


def test_every_operator_that_can_be_installed_is_known():
    """A module in `operators/` has its file in `releases/`."""
    assert set(operators()) <= set(names())


@pytest.mark.parametrize(("name", "version"), WITH_CHART)
def test_the_defaults_of_every_chart_are_vendored(root, name, version):
    """Values can be checked at every release that is carried."""
    assert chart_defaults(root, name, version)


@pytest.mark.parametrize(("name", "version"), sorted(set(KNOWN) - UNVENDORED))
def test_the_definitions_that_an_operator_owns_are_those_it_ships(root, name, version):
    """What is said to be owned is among the vendored kinds of the release, and nothing of its own groups is missing."""
    said = facts(name)
    index = root / "schemas" / name / version / "index.json"
    if not index.exists():
        assert not said.crds
        return
    shipped = {f"{kind['plural']}.{kind['group']}" for kind in json.loads(index.read_text())["kinds"]}
    newest = max(said.releases, key=order)
    assert set(said.brings_crds) <= shipped
    if version == newest:
        assert set(said.crds) <= shipped


@pytest.mark.parametrize("version", ["26.7.0"])
def test_the_images_of_the_gpu_operator_are_those_of_its_chart(root, version):
    """The ClusterPolicy is ours, so its images are copied; a copy must not drift."""
    shipped = chart_defaults(root, "gpu-operator", version)
    for component, image in facts("gpu-operator").releases[version].components.items():
        section = shipped["driver"]["manager"] if component == "driverManager" else shipped[component]
        expected = {field: section.get(field, f"v{version}") for field in ("repository", "image", "version")}
        assert image == expected, component


def test_the_resource_prefix_of_virtual_functions_is_the_charts(root):
    """Pods request devices under the prefix that the operator advertises by default."""
    shipped = chart_defaults(root, "sriov-network-operator", "1.6.0")
    assert facts("sriov-network-operator").resource_prefix == shipped["operator"]["resourcePrefix"]


@pytest.mark.parametrize(("name", "version"), WITH_CHART)
def test_the_switches_of_bundled_projects_are_values_of_the_chart(root, name, version):
    """A switch that the chart does not have would leave two of a project running."""
    shipped = chart_defaults(root, name, version)
    for bundle in facts(name).bundles:
        value: Any = shipped
        for key in bundle.switch.split("."):
            value = value[key]
        assert value is bundle.default
