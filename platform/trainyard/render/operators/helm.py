"""The values that a chart takes, as its release ships them: defaults, those of charts inside it, and its own schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.base.documents import load
from trainyard.base.system import files
from trainyard.render.operators.base import Site, merge

INSIDE = ".subchart."
"""How folders of charts inside a chart are named: `<chart>.subchart.<name>`."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a release of a chart ships."""

    values: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema of the values; empty where the chart has none, as most."""


def defaults(site: Site, schemas: Path) -> Defaults | None:
    """Return the defaults of the operator's chart at the nearest known release, or None where they are not there.

    `schemas` is the folder of that name, of the repository or the package.
    """
    if site.facts.chart is None:
        return None
    name, version = site.facts.chart.name, site.known_version
    values = read(schemas / "charts" / name / f"{version}.yaml")
    if values is None:
        return None
    for key, value in inner(schemas / "charts", name, version, values).items():
        values = {**values, key: merge(value, values.get(key) or {})}
    data = files.read_installed(schemas / "charts" / name / f"{version}.schema.json")
    return Defaults(values, json.loads(data) if data else {})


def inner(charts: Path, name: str, version: str, values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the defaults of the charts inside a chart, by the key of their values.

    One that was not kept is taken from the newest release that the project has published by itself.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for key in values:
        own = read(charts / f"{name}{INSIDE}{key}" / f"{version}.yaml")
        alone = sorted(charts.glob(f"{key}/*.yaml"))
        if own is not None:
            found[key] = own
        elif key != name and alone:
            found[key] = read(alone[-1]) or {}
    return found


def read(file: Path) -> dict[str, Any] | None:
    """Return a file of values, or None where it is not there."""
    data = files.read_installed(file)
    if data is None:
        return None
    documents, _ = load(data, file=file.name)
    value = documents[0].value if documents else None
    return dict(value) if isinstance(value, Mapping) else {}
