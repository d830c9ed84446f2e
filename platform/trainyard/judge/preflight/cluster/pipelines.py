"""Whether the pods of pipelines' steps may be where a cluster's file puts them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
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
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield teams whose profile is their own namespace."""
    for team, place in cluster.pipelines.namespaces.items() if cluster.pipelines else ():
        if place == team:
            message = f"profile {place!r} is the namespace of the team's runs, where no step may start; name another"
            yield OWN.at(source, ("pipelines", "namespaces", team), message)
