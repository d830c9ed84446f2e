"""Whether runs get over lost nodes: Kueue forces dead pods out, and leaves jobs that may shrink alone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, Severity
from trainyard.kinds import Resolved
from trainyard.operators.kueue import FORCED_DELETION, GATES, Kueue, gated_twice, recovers, short_of_pods
from trainyard.quantities import duration_text
from trainyard.rules import Rule
from trainyard.sizing.restarts import MONTH, losses
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

DEAD_NODE = Rule(
    id="ft-dead-node",
    title="Pods of a node that died are deleted.",
    why="such a pod stays Terminating, and the run neither ends nor starts again while it is there, holding its quota",
    fix="turn Kueue's gate FailureRecoveryPolicy on; or waive this where something else removes dead nodes",
    source="kueue v0.19.2 pkg/controller/failurerecovery; kubernetes v1.35 pkg/controller/job/job_controller.go",
    layer="pairing",
    severity=Severity.WARNING,
)
GATES_TWICE = Rule(
    id="kq-gates-once",
    title="Kueue's gates are written in one place.",
    why="with gates both in the chart's values and in the configuration Kueue does not start",
    fix="write all of them in one of the two",
    source="kubernetes-sigs/kueue v0.19.2 pkg/config/validation.go LoadAndValidateFeatureGates",
    layer="values",
)
BUDGET = Rule(
    id="ft-maxrestarts-budget",
    title="A run may start again as often as it is likely to lose nodes.",
    why="it fails for good before its deadline, and a drain may count as a loss",
    fix="remove restarts, which then follows from nodes and hours, or raise it",
    source="docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)
UNSAVED = Rule(
    id="ckp-interval",
    title="A run saves more often than it is likely to lose a node.",
    why="what was done since the last save is done again at each loss, so that it may never end",
    fix="give the job a checkpoint, or save more often",
    source="docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)
MORTAL = Rule(
    id="ft-drain-mortal",
    title="Runs that a drained pod fails for good have a kind that starts again, or hardly lose nodes.",
    why="the training operator counts a pod that is deleted while it runs as failed, whatever restarts says",
    fix="name a kind that starts again, such as JobSet, take nodes that are not spot, or waive this",
    source="training-operator v1.9.4 pkg/core/status.go UpdateJobReplicaStatuses, UpdateJobStatus of each kind",
    layer="run",
    severity=Severity.WARNING,
)
SHRUNK = Rule(
    id="kq-recovery-elastic",
    title="Jobs that may shrink run where Kueue does not take back what is short of pods.",
    why="a job that goes on with fewer nodes counts as not ready, so that Kueue stops it and queues it again",
    fix="set recoveryMinutes: 0 in the cluster's file, or remove minNodes",
    source="kueue v0.19.2 pkg/controller/jobs/job/job_controller.go, pkg/controller/core/workload_controller.go",
    layer="queueing",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a Kueue that leaves the pods of dead nodes where they are or does not start, or of which nobody knows."""
    choice = cluster.operators.get(Kueue.name)
    if choice is None or not cluster.queues_of("kueue"):
        return
    at = ("operators", Kueue.name)
    if not choice.managed:
        message = f"kueue is installed by somebody else; have its gate {FORCED_DELETION} turned on, and waive this"
        yield DEAD_NODE.at(source, at, message)
    elif gated_twice(cluster):
        message = f"kueue has gates in {GATES} and in its configuration; write them in one of them"
        yield GATES_TWICE.at(source, (*at, "values"), message)
    elif not recovers(cluster):
        message = f"kueue's own values leave its gate {FORCED_DELETION} off; add it to {GATES}"
        yield DEAD_NODE.at(source, (*at, "values"), message)


def check_job(run: Resolved) -> Iterator[Finding]:
    """Yield a job that gives up before its deadline or at a drain, or that Kueue stops when it shrinks."""
    yield from check_budget(run)
    yield from check_mortal(run)
    yield from check_saves(run)
    job, cluster = run.run.job, run.run.cluster
    shrinks = job.min_nodes is not None and job.min_nodes < job.nodes
    if (
        not shrinks
        or not run.launcher.elastic
        or "elastic" not in run.kind.gives
        or run.kind.scheduler != "kueue"
        or not run.kind.waits_for_all
        or Kueue.name not in cluster.operators
    ):
        return
    left = short_of_pods(cluster)
    if left:
        message = (
            f"minNodes is {job.min_nodes}, but Kueue of cluster {run.run.cluster_name!r} stops what lacks pods for"
            f" {duration_text(left)}; set recoveryMinutes: 0 there"
        )
        yield SHRUNK.at(run.run.source, ("minNodes",), message)


def check_budget(run: Resolved) -> Iterator[Finding]:
    """Yield fewer restarts than a run loses nodes on average until its deadline; none at all are meant so."""
    job = run.run.job
    if not job.restarts or job.max_hours is None:
        return
    lost = losses(run.run, run.specs)
    if lost.count > job.restarts:
        message = f"restarts is {job.restarts}, but {lost.words} are {lost.count:.2g} nodes lost; remove or raise it"
        yield BUDGET.at(run.run.source, ("restarts",), message)


def check_saves(run: Resolved) -> Iterator[Finding]:
    """Yield a run on spot nodes that saves nothing though it will lose some, or any that saves less often than that."""
    job, source = run.run.job, run.run.source
    lost = losses(run.run, [role for role in run.specs if role.ranks])
    each = lost.count / job.array.of if job.array is not None else lost.count
    if job.checkpoint is None:
        if job.spot and each >= 1:
            message = f"the job saves nothing, but {lost.words} are {each:.2g} nodes lost; give it a checkpoint"
            yield UNSAVED.at(source, ("spot",), message)
    elif each > 0:
        between = (job.max_hours or MONTH) * 60 / each
        if job.checkpoint.every_minutes > between:
            every = job.checkpoint.every_minutes
            message = f"everyMinutes is {every}, but a node is lost every {between:.0f}; save more often"
            yield UNSAVED.at(source, ("checkpoint", "everyMinutes"), message)


def check_mortal(run: Resolved) -> Iterator[Finding]:
    """Yield a job that ends with a drained pod, on nodes that are likely to go; no restarts at all are meant so."""
    roles = [role for role in run.specs if role.name in run.kind.mortal]
    if not roles or run.run.job.restarts == 0:
        return
    spot = next((role for role in roles if role.pool.spot), None)
    lost = losses(run.run, roles)
    if spot is None and lost.count < 1:
        return
    why = f"{spot.name} is on spot nodes" if spot else f"{lost.words} are {lost.count:.2g} nodes lost"
    message = f"a drained pod fails the {run.kind.name} for good, and {why}; name another kind, such as JobSet"
    yield MORTAL.at(run.run.source, ("kind",), message)
