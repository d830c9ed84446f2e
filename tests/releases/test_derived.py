"""What facts of operators leave unsaid follows from the API types and charts that are vendored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from trainyard.base.system import vendored
from trainyard.base.system.data import own_folder
from trainyard.base.versions import order
from trainyard.specs.releases import Facts, release, releases
from trainyard.specs.releases.derived import complete_facts

SCHEMAS = own_folder("schemas")
LOCK: dict[str, Any] = yaml.load((SCHEMAS / "lock.yaml").read_bytes(), Loader=yaml.CSafeLoader)
TYPED = sorted(name for name in releases() if (SCHEMAS / name).is_dir())
PUBLISHED = sorted(
    {
        entry["project"]
        for locked in LOCK["charts"].values()
        for entry in locked.values()
        if entry["project"] in releases() and entry["published"] != "bundled"
    }
    - {"argo-cd"}
)
"""Projects of operators with a chart; that of Argo CD has releases of its own, so it follows from no release of it."""


def facts(name: str) -> Facts:
    """Return a known operator."""
    found = release(name)
    assert found is not None
    return found


def of_types(name: str) -> frozenset[str]:
    """Return the definitions in the newest API types of a project."""
    folder = SCHEMAS / name
    return (
        vendored.definitions(SCHEMAS, name, max(vendored.folders(folder), key=order))
        if folder.is_dir()
        else frozenset()
    )


@pytest.mark.parametrize("name", TYPED)
def test_the_definitions_of_an_operator_are_those_of_its_types(name):
    """Every definition of the newest types is its own, or said to be another's or left out; and none is made up."""
    said = facts(name)
    parts = {type_ for bundle in said.bundles if bundle.project in TYPED for type_ in of_types(bundle.project)}
    others = {*said.brings_crds, *(item.name for item in said.leaves_out), *parts}
    assert set(said.crds) == of_types(name) - others
    assert said.crds or not said.has_types


@pytest.mark.parametrize("name", sorted(set(releases()) - set(TYPED)) or [None])
def test_an_operator_without_types_owns_nothing(name):
    """Whoever has API types nowhere would own nothing without a word: it has no chart, or its file says so."""
    assert name is None or facts(name).chart is None or not facts(name).has_types


@pytest.mark.parametrize("name", sorted(releases()))
def test_what_is_left_out_or_brought_is_there(name):
    """An exception of what does not exist would hide a mistake of its name."""
    said = facts(name)
    made = {kind for chart in vendored.charts(SCHEMAS) for kind in chart.get("clusterKinds", ())}
    assert {item.name for item in said.leaves_out} <= {*of_types(name), *made}
    assert set(said.brings_crds) <= of_types(name) | of_types("prometheus-operator")
    kinds = {kind for one_release in said.releases.values() for kind in one_release.cluster_kinds or ()}
    assert not {item.name for item in said.leaves_out} & {*said.crds, *kinds}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_chart_of_an_operator_is_published_where_the_lock_says(name):
    """Argo CD is told the registry, or the project's Git, and spells the chart's versions or its tags as they are."""
    chart = facts(name).chart
    assert chart is not None
    for locked in LOCK["charts"][chart.name].values():
        if chart.path is not None:
            assert (chart.repository, chart.path) == (f"https://github.com/{locked['repository']}", locked["path"])
            assert locked["tag"].startswith("v") is chart.v_prefix
            continue
        (place, *_) = locked["published"].split(" or ")
        assert place in {f"oci://{chart.repository}/{chart.name}", chart.repository}
        assert locked["version"].startswith("v") is chart.v_prefix


def test_the_index_of_charts_says_what_the_lock_says(root, monkeypatch):
    """The index is what the lock holds, for a quick look."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    import schemas_charts
    from schemas_json import render

    assert (SCHEMAS / "charts" / "index.json").read_text() == render(schemas_charts.index(LOCK["charts"]))


ONE: dict[str, Any] = {"namespace": "acme", "releases": {"1.0.0": {"source": "acme docs"}}}
CHART = {"repository": "registry.acme.example/charts", "name": "acme"}
MANIFESTS = {"repository": "https://git.acme.example/acme", "path": "config"}
SAID: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a project that is not vendored has what it says": (
        "acme",
        {**ONE, "chart": CHART, "crds": ["anvils.acme.example"], "clusterKinds": ["acme.example/Forge"]},
        {"crds": ("anvils.acme.example",), "kinds": ("acme.example/Forge",)},
    ),
    "without a chart it may say nothing": ("acme", ONE, {"crds": (), "kinds": (), "chart": None}),
    "a chart that is not vendored was read by nobody": ("acme", {**ONE, "chart": CHART}, {"kinds": None}),
    "it may say that its chart makes none": ("acme", {**ONE, "chart": CHART, "clusterKinds": []}, {"kinds": ()}),
    "manifests without kinds were read by nobody": ("acme", {**ONE, "manifests": MANIFESTS}, {"kinds": None}),
    "a release may say its own": (
        "acme",
        {**ONE, "chart": CHART, "releases": {"1.0.0": {"source": "x", "clusterKinds": ["acme.example/Forge"]}}},
        {"kinds": ("acme.example/Forge",)},
    ),
    "a release beside one whose chart was read": (
        "jobset",
        {**ONE, "releases": {"0.11.0": {"source": "x"}, "0.12.0": {"source": "x"}}},
        {"kinds": None},
    ),
    "what it says counts before what is vendored": (
        "jobset",
        {**ONE, "releases": {"0.12.0": {"source": "x"}}, "crds": [], "chart": None},
        {"crds": (), "chart": None},
    ),
    "a chart of another release is not the operator's": ("jobset", ONE, {"chart": None}),
    "of several charts none is taken": (
        "kuberay",
        {**ONE, "releases": {"1.7.0": {"source": "x"}}},
        {"chart": None, "kinds": ()},
    ),
}


@pytest.mark.parametrize(("name", "value", "expected"), SAID.values(), ids=SAID)
def test_facts_of_other_packages(name, value, expected):
    """Facts that come by an entry point are completed as those of files, and need no schemas."""
    found = complete_facts(name, Facts.model_validate(value), SCHEMAS)
    (first, *_) = found.releases.values()
    made = {"kinds": first.cluster_kinds, "crds": found.crds, "chart": found.chart}
    assert {field: made[field] for field in expected} == expected


def test_facts_without_any_schemas(tmp_path):
    """Without the folder nothing is added."""
    said = Facts.model_validate(ONE)
    made = {"1.0.0": said.releases["1.0.0"].model_copy(update={"cluster_kinds": ()})}
    assert complete_facts("kueue", said, Path(tmp_path)) == said.model_copy(update={"releases": made})
