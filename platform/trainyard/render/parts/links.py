"""Addresses at which people look at a run: its dashboard and its pages at trackers; nobody else builds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from trainyard.base.labels import OURS
from trainyard.render.parts import tracking
from trainyard.specs.run import Run

LINK = f"{OURS}/link-"
"""Annotations of a run's objects begin so; the name of the page follows."""

DASHBOARD = "dashboard"

PAGES = (DASHBOARD, tracking.MLFLOW, tracking.WANDB)
"""All pages that a run may have."""


def dashboard_id(name: str) -> str:
    """Return the id of a dashboard in its address; it is the same in every Grafana."""
    return f"trainyard-{name}"


def of_run(run: Run) -> dict[str, str]:
    """Return the addresses of a run by the name of the page; a step's run has no name yet, and so no address."""
    if run.job.step:
        return {}
    found: dict[str, str] = {}
    monitoring = run.cluster.monitoring
    grafana = monitoring.grafana if monitoring else None
    if grafana is not None and grafana.url is not None:
        chosen = {"var-team": run.team_name, "var-run": run.name}
        source = {"var-datasource": grafana.datasource} if grafana.datasource else {}
        query = urlencode({**source, **chosen})
        found[DASHBOARD] = f"{grafana.url.rstrip('/')}/d/{dashboard_id('run')}?{query}"
    return {**found, **tracking.links(run)}


def written_links(objects: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """Return the pages of a rendered run with their addresses, as its objects say them."""
    found: dict[str, str] = {}
    for item in objects:
        metadata = item.get("metadata") if isinstance(item, Mapping) else None
        notes = metadata.get("annotations") if isinstance(metadata, Mapping) else None
        for key, address in notes.items() if isinstance(notes, Mapping) else ():
            page = str(key).removeprefix(LINK)
            if str(key).startswith(LINK) and page in PAGES and isinstance(address, str):
                found[page] = address
    return tuple(sorted(found.items()))


def notes(run: Run) -> dict[str, str]:
    """Return the addresses as annotations of the run's objects."""
    return {f"{LINK}{name}": address for name, address in of_run(run).items()}
