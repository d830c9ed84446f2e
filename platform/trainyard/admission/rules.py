"""The rule that a job which Kueue would never admit breaks."""

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


def findings(verdicts: Iterable[Verdict], standing: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding at each job that never fits; none where an error is told of the job already."""
    there = list(standing)
    for each in verdicts:
        if each.word == "never fits" and not told(there, each.ask.file):
            yield NEVER.at(each.ask.file.source, ("queue",), f"job never fits: {each.detail}")
