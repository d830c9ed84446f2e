"""Metrics of what runs on a cluster: for each exporter the names, labels and source of its series, and who scrapes it.

A file holds what our rules and dashboards read, not all that an exporter has. A name that is not here is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from pydantic import Field, StrictBool

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Name, Spec, Text

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
"""A word of an expression: a metric, a label or a function (prometheus v0.314.0 promql/parser/lex.go)."""


class Origin(Spec):
    """Where the names are written: a Go module, a repository, or a configuration of ours in the same file."""

    module: Text | None = None
    """Go module, which a test can read."""
    repository: Text | None = None
    """Repository on GitHub, for what is no module."""
    tag: Text | None = None
    """Release of either."""
    prefix: str = ""
    """Beginning of all names, which the source writes apart from the rest."""
    configuration: Literal["resources"] | None = None
    """Field of the file from which names follow."""


class Scrape(Spec):
    """How Prometheus finds and reads an exporter."""

    pods: dict[Text, Text] | None = None
    """Labels of its pods; a PodMonitor reads them."""
    service: dict[Text, Text] | None = None
    """Labels of its Service, where it has one; a ServiceMonitor reads it."""
    port: Text | None = None
    """Name of the port, of the pod or of the Service."""
    container: Text | None = None
    """Container that answers at `number`, where its pods declare no port; pods without it are not read."""
    number: int | None = None
    """Number of the port, where policies of a network must let Prometheus through."""
    pod_labels: tuple[Text, ...] = ()
    """Labels of its pods that series have, too; of a PodMonitor."""
    teams: StrictBool = False
    """Whether its pods are in the namespaces of teams, and not beside their operator."""
    authorized: StrictBool = False
    """Whether it answers over TLS alone, and only to accounts that may get /metrics."""
    interval: Text = "30s"


class Metric(Spec):
    """One metric: what kind of series it has."""

    type: Literal["counter", "gauge", "histogram"]
    help: Text
    """What it counts."""
    unit: Text | None = None
    labels: tuple[Text, ...] = ()
    """Labels in addition to those of all metrics of the exporter."""
    file: Text | None = None
    """File of the source with the name."""
    spelled: Text | None = None
    """Part of the name that the file has; default: all but the prefix."""


class Exporter(Spec):
    """One exporter: what it is, how it is scraped, and its metrics by name."""

    title: Text
    operator: Name | None = None
    """Operator of a cluster that brings it; default: it comes with Prometheus, or is there anyway."""
    release: Text
    source: Origin
    scrape: Scrape | None = None
    """How it is scraped; None where another chart does it."""
    labels: tuple[Text, ...] = ()
    """Labels of all its metrics."""
    metrics: dict[Text, Metric] = {}
    resources: tuple[dict[str, Any], ...] = ()
    """Configuration of kube-state-metrics, without the keys `operator` and `plural`, which are ours."""
    sources: dict[Text, Text] = Field(default={})

    def series(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield every series that it has, and its labels; a histogram has three."""
        for name, metric in self.metrics.items():
            labels = frozenset((*self.labels, *metric.labels))
            if metric.type == "histogram":
                yield f"{name}_bucket", labels | {"le"}
                yield f"{name}_sum", labels
                yield f"{name}_count", labels
            else:
                yield name, labels


TARGET = frozenset({"job", "instance", "namespace", "pod", "service", "container", "endpoint", "node"})
"""Labels that Prometheus adds to every series of a target, where our monitors or the chart's say so."""


@cache
def exporters() -> dict[str, Exporter]:
    """Return every exporter by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Exporter, "table of metrics")


@cache
def owners() -> dict[str, str]:
    """Return the exporter of every series, by its name."""
    return {name: exporter for exporter, table in exporters().items() for name, _ in table.series()}


def exporters_of(expression: str) -> frozenset[str]:
    """Return the exporters whose series an expression reads."""
    known = owners()
    return frozenset(known[word] for word in NAME.findall(expression) if word in known)
