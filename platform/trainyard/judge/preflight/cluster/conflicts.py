"""Whether values that a cluster's file gives a chart go with what Trainyard renders beside the chart."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.conflicts import common_conflicts
from trainyard.render.operators.install import installed_operators
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

CONFLICT = Rule(
    id="values/conflict",
    title="No value of a chart goes against what Trainyard renders for the cluster.",
    why="the chart and the rendered objects contradict each other, so jobs do not start, or nothing reads the value",
    fix="remove the value, or set the field of the cluster that the message names",
    source="docs/clusters.md; the chart's values.yaml, in schemas/charts",
    layer="values",
    may_waive=True,
    may_warn=True,
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield values that break what is rendered, as errors, and values that nothing reads, as warnings.

    A value that takes the place of a derived one, and with which everything works, is no finding.
    """
    for site, operator in installed_operators(cluster):
        if not site.choice.values or site.facts.chart is None:
            continue
        for found in (*operator.conflicts(site), *common_conflicts(site)):
            path = (*site.at, "values", *found.path.split("."))
            severity = Severity.ERROR if found.breaks else Severity.WARNING
            yield CONFLICT.at(source, path, found.message, severity=severity, source=found.source, shared=found.shared)
