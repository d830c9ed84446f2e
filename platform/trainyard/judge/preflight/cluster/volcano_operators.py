"""Operators whose jobs a cluster leaves to Volcano: whether they can group pods, and what Kueue does to such jobs.

Facts: training-operator v1.9.4 and mpi-operator v0.8.2, as `render/kinds/pod_groups.py` says; kueue v0.19.2
pkg/controller/jobframework (reconciler.go, utils.go WorkloadShouldBeSuspended).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.kinds.pod_groups import OPERATORS
from trainyard.render.operators.kueue import Kueue, configuration, kueue_integrations
from trainyard.specs import Cluster
from trainyard.specs.sources import Source
from trainyard.upstream.kueue.scope import JOBS
from trainyard.upstream.workloads import carriers

LAUNCHERS = "mpi-operator"
"""The operator that makes a Job of Kubernetes for each of its jobs."""

OPERATOR = Rule(
    id="vc-operator",
    title="Only operators that group pods for Volcano have a scheduler, and the cluster has a queue for their jobs.",
    why="without such a flag pods start one by one, and without a queue of Volcano no job of the operator is admitted",
    fix="remove scheduler, or add a queue with scheduler: volcano",
    source="kubeflow/trainer v1.9.4 cmd/training-operator.v1/main.go; kubeflow/mpi-operator v0.8.2 cmd/mpi-operator",
    layer="pairing",
)
SUSPENDED = Rule(
    id="vc-suspended",
    title="Kueue leaves alone the jobs of operators that are left to Volcano.",
    why="they have no queue of Kueue, so Kueue suspends them in the namespaces of teams, and nothing starts them",
    fix="remove the integration from Kueue's configuration, or scheduler from the operator",
    source="kueue v0.19.2 pkg/controller/jobframework/utils.go WorkloadShouldBeSuspended",
    layer="pairing",
    may_warn=True,
)
LAUNCHER = Rule(
    id="vc-launcher",
    title="MPIJobs are left to Volcano only where Kueue does not hold plain Jobs.",
    why="the launcher of an MPIJob is a Job without a queue: Kueue ends its pod, and the operator starts it again",
    fix="leave mpi-operator to Kueue, or use a cluster without Kueue",
    source="kueue v0.19.2 pkg/controller/jobframework/reconciler.go; mpi-operator v0.8.2 newLauncherJob",
    layer="pairing",
    may_warn=True,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems with operators whose jobs are left to a scheduler."""
    for name, choice in cluster.operators.items():
        at = ("operators", name, "scheduler")
        if choice.scheduler is not None and name not in OPERATORS:
            message = (
                f"{name} has scheduler {choice.scheduler!r}, but only {' and '.join(OPERATORS)} have one; remove it"
            )
            yield OPERATOR.at(source, at, message, key=True)
        elif choice.scheduler == "volcano":
            if not cluster.queues_of("volcano"):
                message = (
                    f"{name} is left to Volcano, but no queue has scheduler: volcano; add one, or remove scheduler"
                )
                yield OPERATOR.at(source, at, message)
            yield from check_held(cluster, name, source)


def check_held(cluster: Cluster, name: str, source: Source) -> Iterator[Finding]:
    """Yield a Kueue that suspends jobs of an operator, or their launchers, for lack of a queue of its own.

    What somebody else configures is not known, so that there it may be so.
    """
    if Kueue.name not in cluster.operators or not configuration(cluster).get("manageJobsWithoutQueueName"):
        return
    severity = Severity.ERROR if cluster.installs(Kueue.name) else Severity.WARNING
    at, shared = ("operators", name, "scheduler"), [("operators", Kueue.name)]
    there = kueue_integrations(cluster)
    held = sorted(row.framework for row in carriers().values() if row.operator == name and row.framework in there)
    if held:
        message = f"Kueue has the integration {held[0]}, so it suspends jobs that are left to Volcano; remove one"
        yield SUSPENDED.at(source, at, message, severity=severity, shared=shared)
    elif name == LAUNCHERS and JOBS in there:
        message = f"Kueue suspends the launchers of {name}'s jobs, which are Jobs without a queue; remove scheduler"
        yield LAUNCHER.at(source, at, message, severity=severity, shared=shared)
