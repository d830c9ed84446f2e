"""Whether Kueue forces the pods of lost nodes out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kueue import FORCED_DELETION, GATES, Kueue, gated_twice, recovers
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

DEAD_NODE = Rule(
    id="ft-dead-node",
    title="The cluster deletes pods of a dead node.",
    why="such a pod stays Terminating, so the run neither ends nor restarts, and it holds its quota",
    fix="turn on Kueue's gate FailureRecoveryPolicy; waive this if another component removes dead nodes",
    source="kueue v0.19.2 pkg/controller/failurerecovery; kubernetes v1.35 pkg/controller/job/job_controller.go",
    layer="pairing",
    severity=Severity.WARNING,
)


HASTY = Rule(
    id="kq-recovery-hasty",
    title="A job that lost a pod gets the time that a new pod needs to start.",
    why="Kueue evicts the job before the new pod has pulled its image, so every lost pod stops the whole run",
    fix="set recoveryMinutes to the time of an image pull, 10 or more, or remove it",
    source="kueue v0.19.2 pkg/controller/core/workload_controller.go; apis/config/v1beta2 WaitForPodsReady",
    layer="queueing",
    severity=Severity.WARNING,
)
SOON = 5
"""Minutes in which nodes do not pull the image of a training program (20 GB at 100 MB/s take 3 of them)."""

GATES_TWICE = Rule(
    id="kq-gates-once",
    title="Kueue's feature gates are set in one place.",
    why="Kueue does not start with gates both in the chart's values and in its configuration",
    fix="write all gates in one of the two",
    source="kubernetes-sigs/kueue v0.19.2 pkg/config/validation.go LoadAndValidateFeatureGates",
    layer="values",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a Kueue that leaves the pods of dead nodes where they are or does not start, or of which nobody knows."""
    choice = cluster.operators.get(Kueue.name)
    if cluster.recovery_minutes is not None and 0 < cluster.recovery_minutes < SOON:
        message = f"recoveryMinutes is {cluster.recovery_minutes}, but pulling an image takes longer; set 10 or more"
        yield HASTY.at(source, ("recoveryMinutes",), message)
    if choice is None or not cluster.queues_of("kueue"):
        return
    at = ("operators", Kueue.name)
    if not choice.managed:
        message = f"Trainyard does not install kueue here; have its gate {FORCED_DELETION} turned on, then waive this"
        yield DEAD_NODE.at(source, at, message)
    elif gated_twice(cluster):
        message = f"kueue has gates in {GATES} and in its configuration; keep one of them"
        yield GATES_TWICE.at(source, (*at, "values"), message)
    elif not recovers(cluster):
        message = f"values of kueue leave its gate {FORCED_DELETION} off; add it to {GATES}"
        yield DEAD_NODE.at(source, (*at, "values"), message)
