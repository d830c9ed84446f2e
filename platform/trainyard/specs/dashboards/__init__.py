"""Dashboards as data: a file for each, with rows of panels, and variables by which people choose what they see.

Units are Grafana's ids (grafana packages/grafana-data/src/valueFormats/categories.ts). An expression reads metrics of
the table and recorded series alone; its variables stand in quotes, so that it is also PromQL as it is.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, StrictBool

from trainyard.specs.alerts import RUN_PODS
from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Name, Spec, Text


class Variable(Spec):
    """A choice above the panels: the values of a label."""

    name: Name
    """Name in expressions, as `$name`."""
    title: Text
    label: Text
    """Label whose values are offered."""
    of: Text
    """Series that have the label; earlier variables may narrow them."""


class Panel(Spec):
    """One picture of a dashboard."""

    title: Text
    about: Text
    """What a person sees, and what is good or bad about it."""
    unit: Text = "short"
    expr: Text
    legend: Text = "__auto"
    """Name of a series, with labels as `{{label}}`."""
    kind: Literal["timeseries", "stat", "table"] = "timeseries"
    width: int = Field(default=12, ge=3, le=24)
    """Columns of 24."""
    join_run: StrictBool = False
    """Whether series of pods are cut to the runs that are chosen; they have namespace and pod."""
    stacked: StrictBool = False

    def expression(self) -> str:
        """Return the expression as Prometheus reads it."""
        plain = " ".join(self.expr.split())
        if not self.join_run:
            return plain
        return f'({plain}) * on (namespace, pod) group_left (run, team) {RUN_PODS}{{team=~"$team",run=~"$run"}}'


class Row(Spec):
    """Panels below one heading."""

    title: Text
    panels: tuple[Panel, ...] = Field(min_length=1)


class Dashboard(Spec):
    """One dashboard."""

    title: Text
    about: Text
    """The question that it answers."""
    variables: tuple[Variable, ...] = ()
    rows: tuple[Row, ...] = Field(min_length=1)


@cache
def dashboards() -> dict[str, Dashboard]:
    """Return every dashboard by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Dashboard, "dashboard")
