"""Grafana dashboards of a cluster: ConfigMaps for the sidecar, with the panels whose series the cluster has.

Facts: grafana-community/helm-charts grafana values.yaml sidecar.dashboards: label, folder annotation; grafana v12
packages/grafana-schema/src/raw/dashboard: the dashboard's JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.clusters import alerts, monitors
from trainyard.render.parts import prometheus
from trainyard.render.parts.links import dashboard_id
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.alerts import RUN_PODS
from trainyard.specs.dashboards import Dashboard, Panel, Variable, dashboards

COLUMNS = 24
HEIGHTS = {"stat": 4, "timeseries": 8, "table": 8}
"""Rows of the grid, by the kind of a panel."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""The Prometheus that a person chooses above the panels."""

SCHEMA = 39
"""Version of the JSON (grafana v11 and newer read it)."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield a ConfigMap for each dashboard that has panels on the cluster; nothing without a Grafana."""
    monitoring, place = cluster.monitoring, prometheus.namespace(cluster)
    if monitoring is None or monitoring.grafana is None or place is None:
        return
    grafana = monitoring.grafana
    for name, board in dashboards().items():
        panels = panels_of(cluster, board)
        if panels:
            value = json.dumps(document(cluster, name, board, panels), indent=1) + "\n"
            yield Resource(
                "v1",
                "ConfigMap",
                f"trainyard-dashboard-{name}",
                ("monitoring", "grafana"),
                grafana.namespace or place,
                {grafana.label: "1"},
                {"grafana_folder": grafana.folder},
                {"data": {f"trainyard-{name}.json": value}},
            )


def namespaces(cluster: Cluster) -> frozenset[str]:
    """Return the namespace of dashboards, where it is said to differ from that of Prometheus."""
    grafana = cluster.monitoring.grafana if cluster.monitoring else None
    return frozenset({grafana.namespace} if grafana is not None and grafana.namespace else ())


def panels_of(cluster: Cluster, board: Dashboard) -> list[tuple[str, list[Panel]]]:
    """Return the rows of a dashboard with the panels whose series are there; a row without any is left out."""
    there, series = frozenset(monitors.there(cluster)), alerts.recorded_on(cluster)
    found = []
    for row in board.rows:
        panels = [panel for panel in row.panels if alerts.is_there(panel.expression(), there, series)]
        if panels:
            found.append((row.title, panels))
    return found


def document(cluster: Cluster, name: str, board: Dashboard, rows: list[tuple[str, list[Panel]]]) -> dict[str, Any]:
    """Return a dashboard as Grafana reads it; where teams have other namespaces, one choice gives the other."""
    chosen, panels = [choice(variable) for variable in board.variables], list(placed(rows))
    if cluster.other_namespaces and any(has_namespace(panel) for panel in panels):
        chosen.append(chosen_namespace())
        panels = [by_namespace(panel) for panel in panels]
    return {
        "uid": dashboard_id(name),
        "title": f"Trainyard / {board.title}",
        "description": board.about,
        "tags": ["trainyard"],
        "schemaVersion": SCHEMA,
        "editable": False,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["trainyard"], "title": "Trainyard", "keepTime": True}],
        "templating": {"list": [chosen_source(), *chosen]},
        "panels": panels,
    }


def chosen_source() -> dict[str, Any]:
    """Return the choice of a Prometheus."""
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}


def choice(variable: Variable) -> dict[str, Any]:
    """Return the choice of one or more values of a label; at first all are chosen."""
    query = f"label_values({variable.of}, {variable.label})"
    return {
        "name": variable.name,
        "label": variable.title,
        "type": "query",
        "datasource": SOURCE,
        "definition": query,
        "query": {"query": query, "refId": variable.name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


BY_TEAM, BY_NAMESPACE = 'namespace=~"$team"', 'namespace=~"$namespace"'
"""How series without a label of the team are chosen: by its name, where that is its namespace's, else by that."""


def has_namespace(panel: Mapping[str, Any]) -> bool:
    """Say whether a panel chooses series by their namespace."""
    return any(BY_TEAM in target["expr"] for target in panel.get("targets", ()))


def by_namespace(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a panel that chooses series by the namespaces of the teams that are chosen."""
    targets = [{**one, "expr": one["expr"].replace(BY_TEAM, BY_NAMESPACE)} for one in panel.get("targets", ())]
    return {**panel, "targets": targets} if targets else panel


def chosen_namespace() -> dict[str, Any]:
    """Return the namespaces of the teams that are chosen: nobody sees this choice, and all of them are in it."""
    title, series = "Namespace", f'{RUN_PODS}{{team=~"$team"}}'
    shown = choice(Variable(name="namespace", title=title, label="namespace", of=series))
    return {key: value for key, value in shown.items() if key != "allValue"} | {"hide": 2}


def placed(rows: list[tuple[str, list[Panel]]]) -> Iterator[dict[str, Any]]:
    """Yield headings and panels from left to right, row by row."""
    number, top = 0, 0
    for title, panels in rows:
        number += 1
        yield {"id": number, "type": "row", "title": title, "gridPos": grid(0, top, COLUMNS, 1), "panels": []}
        top, left, tallest = top + 1, 0, 0
        for panel in panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            yield as_grafana(panel, number, grid(left, top, panel.width, HEIGHTS[panel.kind]))
            left, tallest = left + panel.width, max(tallest, HEIGHTS[panel.kind])
        top += tallest


def grid(left: int, top: int, width: int, height: int) -> dict[str, int]:
    """Return a place on the grid."""
    return {"x": left, "y": top, "w": width, "h": height}


def as_grafana(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    """Return a panel as Grafana reads it."""
    table = panel.kind == "table"
    target: dict[str, Any] = {
        "refId": "A",
        "datasource": SOURCE,
        "expr": panel.expression(),
        "legendFormat": panel.legend,
    }
    if table:
        target |= {"instant": True, "range": False, "format": "table"}
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.kind == "timeseries":
        stacking = {"stacking": {"mode": "normal", "group": "A"}} if panel.stacked else {}
        defaults |= {"min": 0, "custom": {"fillOpacity": 20 if panel.stacked else 0, **stacking}}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [target],
    }
