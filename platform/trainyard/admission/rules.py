"""The rules that a job breaks which Kueue would never admit or does not survive, or which nodes may not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.admission.asks import told
from trainyard.admission.changes import By
from trainyard.admission.placed import otherwise
from trainyard.admission.verdicts import Verdict
from trainyard.findings import Finding, Severity
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
NO_START = Rule(
    id="vc-never-fits",
    title="Volcano starts a job that has the cluster to itself.",
    why="the pods of a job that its queue has no room for are never made, whatever ends before it",
    fix="ask for less, as the verdict says, or give the queue more",
    source="volcano v1.14.1 pkg/scheduler/plugins/proportion/proportion.go, pkg/scheduler/actions/enqueue/enqueue.go",
    layer="queueing",
)
PERHAPS_NODES = Rule(
    id="node/may-not-fit",
    title="A job that gets quota finds nodes whichever of them kube-scheduler takes first.",
    why="pods are placed one by one where most CPUs and memory are free, and stay: the last may find no node, and hang",
    fix="have Kueue choose hosts by `topology`, give roles pools of their own, or let each pod ask for a whole node",
    source="kubernetes v1.35.4 pkg/scheduler/framework/plugins/noderesources, pkg/scheduler/schedule_one.go selectHost",
    layer="node",
    severity=Severity.WARNING,
)

BY: Mapping[By, Rule] = {"kueue": NEVER, "volcano": NO_START, "machines": NO_NODE}
"""The rules that jobs break which never fit, by who says so."""

CRASHES = Rule(
    id="kq-crash",
    title="Kueue survives to look at every job.",
    why="its manager ends, starts again and ends again: no job of the cluster is admitted any more",
    fix="change what the message names, in the job or in the queues of its cluster",
    source="kubernetes-sigs/kueue v0.19.2 pkg/cache, pkg/scheduler",
    layer="queueing",
)
RESTLESS = Rule(
    id="kq-restless",
    title="Jobs of a cluster do not preempt each other for ever.",
    why="each loses what it has computed since its last checkpoint, again and again, and none of them ends",
    fix="give them priorities that differ, or change who may preempt in their queues",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/preemption",
    layer="queueing",
    severity=Severity.WARNING,
)


def findings(verdicts: Iterable[Verdict], standing: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding at each job that never or only perhaps fits, does not settle, or that Kueue does not survive.

    Of a job that never fits there is none where an error is told of it already.
    """
    there = list(standing)
    for each in verdicts:
        if not each.survived:
            yield CRASHES.at(each.ask.file.source, ("queue",), each.detail)
        elif each.word == "does not settle":
            yield RESTLESS.at(each.ask.file.source, ("queue",), f"job does not settle: {each.detail}")
        elif each.word == "never fits" and not told(there, each.ask.file):
            yield BY[each.by].at(each.ask.file.source, ("queue",), f"job never fits: {each.detail}")
        alone = each.machines.get("alone")
        if alone is not None and (lack := otherwise(alone)):
            yield PERHAPS_NODES.at(each.ask.file.source, ("nodes",), doubt(lack))


def doubt(lack: str) -> str:
    """Return what a finding says of a job that may not fit: `lack` is what its pods may wait for."""
    return f"job may not fit: even alone it may wait for {lack}, as the scheduler chooses nodes"
