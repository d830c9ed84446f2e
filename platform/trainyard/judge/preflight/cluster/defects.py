"""Known defects of the releases that a cluster runs, where it meets them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kuberay import KubeRay
from trainyard.render.operators.kueue import Kueue, kueue_integrations
from trainyard.specs import Cluster
from trainyard.specs.defects import Defect, defects_of
from trainyard.specs.releases import releases
from trainyard.specs.releases.facts import lookup
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
    """Yield the defects of releases that the cluster meets and that a known release lacks.

    Releases that are too old anyway have a finding of their own.
    """
    for name, (version, where) in cluster.chosen().items():
        facts, choice = releases().get(name), cluster.operators.get(name)
        if facts is None or facts.is_too_old(version, managed=choice is None or choice.managed):
            continue
        for defect in defects_of(name, version):
            better = defect.better_release(version, facts.releases)
            if better is not None and is_met(cluster, defect):
                message = f"{name} {version} has a known defect: {defect.happens}; use {better}"
                yield DEFECT.at(source, where, message, source=f"{defect.source}; {defect.issue}")


def is_met(cluster: Cluster, defect: Defect) -> bool:
    """Whether a cluster meets a defect of a release that it runs."""
    match defect.meets:
        case "topology":
            return bool(cluster.topology)
        case "pods":
            return Kueue.name in cluster.operators and "pod" in kueue_integrations(cluster)
        case "kueue" | "volcano":
            return bool(cluster.queues_of(defect.meets))
        case "batch-scheduler":
            return bool(lookup(cluster.operators[KubeRay.name].values, "batchScheduler.name"))
        case "others":
            return False
    return True
