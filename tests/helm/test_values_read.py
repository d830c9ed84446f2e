"""Every value that a template of an operator's chart reads is one that a cluster's file may have.

Charts are those of `make oracles O=charts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracles import paths
from trainyard.base.versions import order
from trainyard.specs.releases import releases

VALUE = re.compile(r"\.Values\.([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)")

READ_IN_VAIN = {
    "serviceAccount": "an unused template of `helm create` reads it",
    "namespace": "its chart refuses it, and names the namespace of the release",
}
"""Values that are read to no effect."""

CHARTS = [
    (name, version, facts.optional_values, paths.CHARTS / facts.chart.name / version)
    for name, facts in releases().items()
    if facts.chart is not None
    for version in facts.releases
    if facts.oldest is None or order(version) >= order(facts.oldest.version)
]


def read(chart: Path) -> set[str]:
    """Return the values that templates of a chart read."""
    files = [path for path in (chart / "templates").rglob("*") if path.is_file()]
    return {path for file in files for path in VALUE.findall(file.read_text(encoding="utf-8"))}


def absent(values: Any, path: str) -> Iterator[str]:
    """Yield the part of a path that the defaults do not have; an empty map takes anything."""
    keys = path.split(".")
    for index, key in enumerate(keys):
        if not isinstance(values, dict) or (index and not values):
            return
        if key not in values:
            yield ".".join(keys[: index + 1])
            return
        values = values[key]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "optional", "chart"), [row[1:] for row in CHARTS], ids=[" ".join(row[:2]) for row in CHARTS]
)
def test_values_that_templates_read_are_known(version, optional, chart):
    """Those that the defaults lack are in the operator's facts, so that nobody is told that they do not exist."""
    if not (chart / "values.yaml").is_file():
        pytest.skip(f"{chart.parent.name} {version} is not there; run make oracles O=charts")
    if (chart / "values.schema.json").is_file():
        pytest.skip("the chart has a schema, which says what it reads")
    shipped = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8")) or {}
    found = {part for path in read(chart) for part in absent(shipped, path)}
    known = {*optional, *READ_IN_VAIN, "global"}
    assert not {part for part in found if not any(f"{part}.".startswith(f"{name}.") for name in known)}
