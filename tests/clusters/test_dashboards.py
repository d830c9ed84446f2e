"""Dashboards show series that exporters really have, on clusters that have them, and Prometheus parses all of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from make import make_cluster
from monitoring import rules
from trainyard.render.clusters import dashboards as boards
from trainyard.render.clusters.projects import monitors
from trainyard.specs.alerts import recorded
from trainyard.specs.dashboards import dashboards
from trainyard.specs.metrics import TARGET, exporters

PROGRAM = os.environ.get(rules.VARIABLE)
LIMIT = 1024 * 1024
"""Bytes of a ConfigMap (kubernetes v1.35 pkg/apis/core/validation MaxSecretSize)."""

PANELS = {
    f"{name}: {panel.title}": panel
    for name, board in dashboards().items()
    for row in board.rows
    for panel in row.panels
}
VARIABLES = {f"{name}: {one.name}": one for name, board in dashboards().items() for one in board.variables}
SELECTED = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}")
GROUPED = re.compile(r"(?:by|on|group_left) \(([^)]*)\)")
WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
FUNCTIONS = frozenset(
    (
        *("count", "sum", "avg", "max", "min", "rate", "increase", "histogram_quantile", "topk", "bottomk"),
        *("by", "on", "group_left", "unless", "or", "and", "le"),
    )
)


def known() -> dict[str, frozenset[str]]:
    """Return the labels of every series that exporters have or that is recorded, by name."""
    found = {name: labels | TARGET for table in exporters().values() for name, labels in table.series()}
    return {**found, **recorded()}


def bare(expression: str) -> str:
    """Return an expression without texts in quotes and durations in brackets."""
    return re.sub(r"\[[^\]]*\]", "", re.sub(r'"[^"]*"', '""', expression))


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_every_name_is_a_series_or_one_of_its_labels(panel):
    """A panel of a name that no exporter has stays empty for ever, and nobody knows why."""
    series, text = known(), bare(panel.expression())
    used = [word for word in WORD.findall(text) if word in series]
    assert used
    labels = {label for name in used for label in series[name]} | {"run", "team"}
    for name, matchers in SELECTED.findall(text):
        named = {part.split("=")[0].split("!")[0].strip() for part in matchers.split(",")}
        assert named <= series[name], name
    for group in GROUPED.findall(text):
        assert {label.strip() for label in group.split(",") if label.strip()} <= labels
    rest = set(WORD.findall(re.sub(r"\{[^}]*\}", "", text))) - set(series) - labels - FUNCTIONS
    assert rest == set()
    named = set(re.findall(r"\{\{(\w+)\}\}", panel.legend))
    assert named <= labels


@pytest.mark.parametrize("variable", VARIABLES.values(), ids=VARIABLES)
def test_a_choice_offers_a_label_that_its_series_has(variable):
    """And the series is one that there is."""
    name = WORD.findall(variable.of)[0]
    assert variable.label in known()[name]


def rendered(**changes: Any) -> dict[str, dict[str, Any]]:
    """Return the dashboards of a cluster by name, as Grafana reads them."""
    found = list(boards.resources(rules.everything(grafana={}, **changes)))
    assert all(len(json.dumps(item.value())) < LIMIT for item in found)
    return {item.name: json.loads(next(iter(item.fields["data"].values()))) for item in found}


def test_panels_have_ids_places_and_choices_of_their_own():
    """Two panels at one place hide each other; an unknown variable is an empty text."""
    found = rendered()
    assert set(found) == {f"trainyard-dashboard-{name}" for name in dashboards()}
    for board in found.values():
        ids = [panel["id"] for panel in board["panels"]]
        assert len(set(ids)) == len(ids)
        cells = [
            (x, y)
            for panel in board["panels"]
            for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
            for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
        ]
        assert len(set(cells)) == len(cells)
        assert max(x for x, _ in cells) < boards.COLUMNS
        asked = {name for panel in board["panels"] for one in panel.get("targets", ()) for name in dollars(one["expr"])}
        assert asked <= {one["name"] for one in board["templating"]["list"]}
    uids = [board["uid"] for board in found.values()]
    assert len(set(uids)) == len(uids)
    assert all(len(uid) <= 40 for uid in uids)


def dollars(expression: str) -> list[str]:
    """Return the variables of an expression."""
    return re.findall(r"\$(\w+)", expression)


def test_a_panel_without_its_series_is_left_out():
    """A cluster without NVIDIA's operator has no panel of its counters, and no row without panels."""
    operators = {"kueue": {"version": "0.19.2"}, "kube-prometheus-stack": {"version": "88.5.3"}}
    cluster = make_cluster(operators=operators, monitoring={"grafana": {}})
    texts = {item.name: next(iter(item.fields["data"].values())) for item in boards.resources(cluster)}
    assert "trainyard-dashboard-queue" in texts
    assert not [name for name, text in texts.items() if "DCGM" in text]
    assert all(
        panel["targets"] for text in texts.values() for panel in json.loads(text)["panels"] if panel["type"] != "row"
    )


def test_nothing_is_rendered_without_a_grafana():
    """Nobody would load the ConfigMaps."""
    assert list(boards.resources(rules.everything())) == []
    assert list(boards.resources(make_cluster())) == []


def test_a_sidecar_finds_them_where_it_looks():
    """By its label, in its namespace, for which the project has leave."""
    cluster = rules.everything(grafana={"namespace": "grafana", "label": "dashboards", "folder": "GPUs"})
    for item in boards.resources(cluster):
        assert (item.namespace, item.labels, item.annotations) == (
            "grafana",
            {"dashboards": "1"},
            {"grafana_folder": "GPUs"},
        )
    assert boards.namespaces(cluster) == {"grafana"}
    assert "/ConfigMap" in monitors.kinds(cluster)[1]
    assert "/ConfigMap" not in monitors.kinds(rules.everything())[1]


@pytest.mark.skipif(PROGRAM is None, reason=f"{rules.VARIABLE} names no promtool")
def test_prometheus_parses_every_expression(tmp_path):
    """Its own parser takes them as they stand, with variables in quotes, and refuses one that is broken."""
    assert PROGRAM is not None
    written = [{"record": "x:y", "expr": panel.expression()} for panel in PANELS.values()]
    written += [{"record": "x:y", "expr": one.of} for one in VARIABLES.values()]
    labelled = [{**rule, "labels": {"panel": str(index)}} for index, rule in enumerate(written)]
    file = tmp_path / "rules.yaml"
    for more, code in (([], 0), ([{"record": "x:z", "expr": "sum by (a) (b"}], 1)):
        file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": [*labelled, *more]}]}), encoding="utf-8")
        done = subprocess.run([PROGRAM, "check", "rules", str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
