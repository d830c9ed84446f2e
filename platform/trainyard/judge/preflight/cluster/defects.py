"""Known defects of the releases that a cluster runs, where it meets them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kueue import Kueue, kueue_integrations
from trainyard.specs import Cluster
from trainyard.specs.defects import Defect, defects_of
from trainyard.specs.releases import releases
from trainyard.specs.sources import Source

DEFECT = Rule(
    id="pairing/known-defect",
    title="No operator has a known defect that the cluster meets and a newer release lacks.",
    why="upstream has described and fixed the defect, and a newer release lacks it",
    fix="use the release that the message names; trainyard releases --defects lists all",
    source="platform/trainyard/specs/defects",
    layer="pairing",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the defects of operators' releases that the cluster meets, but for releases that are too old anyway."""
    for name, choice in cluster.operators.items():
        facts = releases().get(name)
        if facts and facts.oldest and order(choice.version) < order(facts.oldest.version):
            continue
        for defect in defects_of(name, choice.version):
            if is_met(cluster, defect):
                better = defect.better_release(choice.version)
                message = f"{name} {choice.version} has a known defect: {defect.happens}; use {better}"
                where = ("operators", name, "version")
                yield DEFECT.at(source, where, message, source=f"{defect.source}; {defect.issue}")


def is_met(cluster: Cluster, defect: Defect) -> bool:
    """Whether a cluster meets a defect of a release that it runs."""
    if defect.meets == "topology":
        return bool(cluster.topology)
    if defect.meets == "pods":
        return Kueue.name in cluster.operators and "pod" in kueue_integrations(cluster)
    return True
