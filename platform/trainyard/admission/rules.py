"""The rules that a job breaks which Kueue would never admit, or no node ever take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.admission.asks import told
from trainyard.admission.verdicts import Verdict
from trainyard.findings import Finding
from trainyard.rules import Rule

NEVER = Rule(
    id="kq-never-fits",
    title="Kueue admits a job that has the cluster to itself.",
    why="the job stays pending for ever, whatever ends before it",
    fix="ask for less, as the verdict says, or give the queue and the cluster more",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/scheduler.go",
    layer="queueing",
)
NO_NODE = Rule(
    id="node/never-fits",
    title="A job that gets quota finds nodes that take its pods, with the cluster to itself.",
    why="Kueue counts quota, not NUMA nodes, addresses or pods that must be apart: what it admits then never starts",
    fix="ask for less, as the verdict says, or lift what keeps pods from nodes",
    source="kubernetes v1.35.4 pkg/scheduler/framework/plugins, pkg/kubelet/cm",
    layer="node",
)


def findings(verdicts: Iterable[Verdict], standing: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding at each job that never fits; none where an error is told of the job already."""
    there = list(standing)
    for each in verdicts:
        if each.word == "never fits" and not told(there, each.ask.file):
            rule = NO_NODE if each.by == "machines" else NEVER
            yield rule.at(each.ask.file.source, ("queue",), f"job never fits: {each.detail}")
