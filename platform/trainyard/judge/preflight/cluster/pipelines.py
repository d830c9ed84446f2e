"""Whether the pods of pipelines' steps may be where a cluster's file puts them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

OWN = Rule(
    id="spec/pipelines-namespace",
    title="The profile of a team's pipelines is not the namespace of its runs.",
    why="policies refuse a workflow's pods among runs, so no step starts; and its account could end runs from there",
    fix="name the namespace of the team's profile in Kubeflow",
    source="docs/pipelines.md; platform/trainyard/render/tenancy/policies.py",
    may_warn=True,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield teams whose profile is their own namespace, and pipelines without any profile, whose teams all have that.

    The latter was always so where nothing is said, so it stops no change.
    """
    pipelines = cluster.pipelines
    if pipelines is not None and pipelines.namespace is None and not pipelines.namespaces:
        message = (
            "pipelines names no profiles, so steps are in the namespaces of runs, where policies refuse their pods"
        )
        yield OWN.at(source, ("pipelines",), f"{message}; set namespaces", key=True, severity=Severity.WARNING)
    for team, place in cluster.pipelines.namespaces.items() if cluster.pipelines else ():
        if place == cluster.namespace_of(team):
            message = f"profile {place!r} is the namespace of the team's runs, where no step may start; name another"
            yield OWN.at(source, ("pipelines", "namespaces", team), message)
