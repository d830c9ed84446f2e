"""The rules that a job breaks which Kueue would never admit or does not survive, or which nodes may not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.admission.asks import has_error
from trainyard.judge.admission.changes import By
from trainyard.judge.admission.placed import otherwise
from trainyard.judge.admission.verdicts import Verdict

NEVER = Rule(
    id="kq-never-fits",
    title="Kueue can admit each job when the cluster is empty.",
    why="the job stays pending for ever, even after all other jobs have finished",
    fix="request less, as the message suggests, or add quota and nodes",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/scheduler.go",
    layer="queueing",
)
NO_NODE = Rule(
    id="node/never-fits",
    title="The pods of each job find nodes when the cluster is empty.",
    why="Kueue counts quota, not NUMA nodes, addresses or anti-affinity, so it admits a job whose pods never start",
    fix="request less, as the message suggests, or remove what keeps the pods from nodes",
    source="kubernetes v1.35.4 pkg/scheduler/framework/plugins, pkg/kubelet/cm",
    layer="node",
)
NO_START = Rule(
    id="vc-never-fits",
    title="Volcano can start each job when the cluster is empty.",
    why="Volcano never creates the pods of a job that is larger than its queue, even when nothing else runs",
    fix="request less, as the message suggests, or give the queue more",
    source="volcano v1.14.1 pkg/scheduler/plugins/proportion/proportion.go, pkg/scheduler/actions/enqueue/enqueue.go",
    layer="queueing",
)
PERHAPS_NODES = Rule(
    id="node/may-not-fit",
    title="The pods of each job find nodes in whatever order kube-scheduler places them.",
    why="kube-scheduler places pods one by one and never moves them, so the last one may wait for a node for ever",
    fix="let Kueue choose hosts by `topology`, give each role its own pool, or let each pod request a whole node",
    source="kubernetes v1.35.4 pkg/scheduler/framework/plugins/noderesources, pkg/scheduler/schedule_one.go selectHost",
    layer="node",
    severity=Severity.WARNING,
)

BY: Mapping[By, Rule] = {"kueue": NEVER, "volcano": NO_START, "machines": NO_NODE}
"""The rules that jobs break which never fit, by who says so."""

CRASHES = Rule(
    id="kq-crash",
    title="No job makes Kueue crash.",
    why="Kueue's manager crashes again after each restart, so it admits no job of the cluster",
    fix="change what the message names, in the job or in the queues of its cluster",
    source="kubernetes-sigs/kueue v0.19.2 pkg/cache, pkg/scheduler",
    layer="queueing",
)
RESTLESS = Rule(
    id="kq-restless",
    title="Jobs of a cluster do not preempt each other for ever.",
    why="each preemption costs the work since the last checkpoint, and none of the jobs finishes",
    fix="give the jobs different priorities, or change the preemption of their queues",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/preemption",
    layer="queueing",
    severity=Severity.WARNING,
)


def findings(verdicts: Iterable[Verdict], standing: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding at each job that never or only perhaps fits, does not settle, or that Kueue does not survive.

    Of a job that never fits there is none where an error is told of it already.
    """
    there = list(standing)
    for verdict in verdicts:
        if not verdict.survived:
            yield CRASHES.at(verdict.ask.file.source, ("queue",), verdict.detail)
        elif verdict.word == "does not settle":
            yield RESTLESS.at(verdict.ask.file.source, ("queue",), f"job does not settle: {verdict.detail}")
        elif verdict.word == "never fits" and not has_error(there, verdict.ask.file):
            yield BY[verdict.by].at(verdict.ask.file.source, ("queue",), f"job never fits: {verdict.detail}")
        alone = verdict.machines.get("alone")
        if alone is not None and (lack := otherwise(alone)):
            yield PERHAPS_NODES.at(verdict.ask.file.source, ("nodes",), doubt(lack))


def doubt(lack: str) -> str:
    """Return the message on a job that may not fit; `lack` names the node that its pods may wait for."""
    return f"job may not fit: if the scheduler picks other nodes, it waits for {lack}, even on an empty cluster"
