"""Recording rules and alerts as data: a file for each group, with numbers of `monitoring.alerts` as `<name>`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field, StrictBool

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text

NUMBER = re.compile(r"<([a-z][a-zA-Z]*)>")
"""A place in an expression or a text for a number or a name of the cluster; PromQL never writes it so."""

RUN_PODS = "trainyard:run_pod:running"
"""Running pods of runs: namespace, pod, run and team."""


class RuleFact(Spec):
    """A series that Prometheus records, or an alert."""

    record: Text | None = None
    """Name of the series that is recorded."""
    alert: Text | None = None
    """Name of the alert."""
    about: Text | None = None
    """What the recorded series says."""
    expr: Text
    labels: tuple[Text, ...] = ()
    """Labels of the series that are recorded."""
    set: dict[Text, Text] = {}
    """Labels that every recorded series has."""
    join_run: StrictBool = False
    """Whether team and run of the pod are added, where a run has it; the series have namespace and pod."""
    hold: Text | None = None
    """How long it must hold until the alert fires, as Prometheus writes it."""
    severity: Literal["critical", "warning", "info"] | None = None
    team: Text | None = None
    """Label of the series that names the team; default: `team`."""
    summary: Text | None = None
    description: Text | None = None
    """What to do; a command where one helps."""
    needs: tuple[Literal["argocd", "burnIn", "fabric", "karpenter", "mlflow", "virtualClusters"], ...] = ()
    """What else a cluster must have."""
    source: Text | None = None

    def expression(self) -> str:
        """Return the expression with the run of each pod joined to it, where that is asked for."""
        plain = " ".join(self.expr.split())
        if not self.join_run:
            return plain
        with_run = f"({plain}) * on (namespace, pod) group_left (run, team) {RUN_PODS}"
        return f"{with_run} or (({plain}) unless on (namespace, pod) {RUN_PODS})"


class Group(Spec):
    """Rules that Prometheus evaluates one after the other."""

    title: Text
    rules: tuple[RuleFact, ...] = Field(min_length=1)


@cache
def groups() -> dict[str, Group]:
    """Return every group by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Group, "group of rules")


@cache
def recorded() -> dict[str, frozenset[str]]:
    """Return the labels of every recorded series, by name; for rules and dashboards."""
    found: dict[str, frozenset[str]] = {}
    for rule in (rule for group in groups().values() for rule in group.rules):
        if rule.record:
            found[rule.record] = found.get(rule.record, frozenset()) | {*rule.labels}
    return found


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the cluster's numbers and names in their places."""
    return NUMBER.sub(lambda found: values[found[1]], text)
