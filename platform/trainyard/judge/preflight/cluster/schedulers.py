"""What a cluster says of schedulers beside Kubernetes' own: queues of Volcano, and gangs that are bound at once."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.versions import minor
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kueue import Kueue, configuration
from trainyard.render.operators.kueue_conflicts import CONFIGURATION
from trainyard.render.parts.gang import NATIVE_SINCE
from trainyard.specs import Cluster, Queue
from trainyard.specs.models.cluster import GANG_GATES, GATE_NEEDS
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Source
from trainyard.upstream.kueue.scope import IMPLYING, PODS
from trainyard.upstream.workloads import carriers

PROPORTION = "volcano v1.14.1 pkg/scheduler/plugins/proportion/proportion.go"

FIELDS = Rule(
    id="vc-queue-fields",
    title="A queue of Volcano sets no field that only Kueue reads.",
    why="the field would be ignored silently: Volcano's queues have a capability, but neither borrow nor preempt",
    fix="remove the field, or leave the queue to Kueue",
    source=PROPORTION,
)
ONE_POOL = Rule(
    id="vc-queue-pool",
    title="A queue of Volcano has quota for one pool.",
    why="Volcano adds up a resource over all pools, so a job could use both quotas in one pool",
    fix="make a queue for each pool",
    source=PROPORTION,
)
SHARED = Rule(
    id="vc-pool-shared",
    title="No pool has quota in queues of both Kueue and Volcano.",
    why="neither counts what the other admits: both fill the same nodes, and pods of gangs wait for each other",
    fix="give each scheduler a pool of its own",
    source="kueue v0.19.2 pkg/controller/jobs: no integration for batch.volcano.sh",
    layer="queueing",
)
GATED = Rule(
    id="vc-pods-gated",
    title="Volcano runs jobs only where Kueue does not manage single pods.",
    why=(
        "with LeaderWorkerSets Kueue manages pods too, and suspends those of Volcano's Jobs, which have no Kueue queue"
    ),
    fix="remove lws or the integration from the cluster, or the queues of Volcano",
    source="kueue v0.19.2 pkg/controller/jobs/leaderworkerset ImplicitlyEnabledFrameworkNames, pkg/controller/jobs/pod",
    layer="pairing",
    may_warn=True,
)
PRIORITY = Rule(
    id="vc-priority",
    title="Priorities that Volcano reads are at most one billion.",
    why="the API server refuses a PriorityClass above it: higher values belong to system pods",
    fix="lower the priority",
    source="kubernetes v1.35 pkg/apis/scheduling/types.go HighestUserDefinablePriority",
)
NATIVE = Rule(
    id="pairing/native-gang",
    title="Native gangs have a Kubernetes that knows them, and their feature gates.",
    why="the API server would leave out spec.scheduling of Jobs without a word, and pods would start one by one",
    fix="use kubernetes 1.37, turn both gates on in the control plane, and name them in featureGates",
    source="kubernetes v1.37.2 pkg/features/kube_features.go; pkg/api/job/util.go DropDisabledFields",
    layer="pairing",
)
NEEDED = Rule(
    id="pairing/gate-needs",
    title="Feature gates come with those that they need.",
    why="API server, controller manager and scheduler do not start with a gate whose needed gates are off",
    fix="turn the needed gate on, too, and name it in featureGates",
    source="kubernetes v1.37.2 pkg/features/kube_features.go defaultKubernetesFeatureGateDependencies",
    layer="pairing",
)
PLACED = Rule(
    id="to1-gang-placed",
    title="The cluster sets gang only where Kueue does not place pods already.",
    why="with a topology Kueue admits a run only if every pod has a node, so a gang scheduler adds nothing",
    fix="remove gang",
    source="kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go; scheduler-plugins v0.34.7 pkg/coscheduling",
    layer="queueing",
    severity=Severity.WARNING,
)

HIGHEST = 1_000_000_000

OF_PODS = IMPLYING | {PODS}
"""Integrations with which Kueue manages pods."""

OF_KUEUE = (
    "cohort",
    "borrowing_limit",
    "lending_limit",
    "preemption",
    "queueing_strategy",
    "flavor_fungibility",
    "fair_weight",
    "stop_policy",
)
"""Fields of a queue that Volcano's have not."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems with the cluster's queues of Volcano, and with its choice for gangs."""
    queues = cluster.queues_of("volcano")
    for name, queue in queues.items():
        yield from check_queue(name, queue, source)
        yield from check_shared(cluster, name, queue, source)
    if queues:
        yield from check_priorities(cluster, source)
        yield from check_gates(cluster, source)
    yield from check_native(cluster, source)
    if cluster.gang is not None and cluster.topology:
        message = f"gang is {cluster.gang!r}, but Kueue already places pods by the cluster's topology; remove gang"
        yield PLACED.at(source, ("gang",), message)


def check_native(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield native gangs without what makes them: a release, and gates that are off by default."""
    new = minor(cluster.kubernetes) >= NATIVE_SINCE
    if cluster.feature_gates and not new:
        message = f"featureGates are of Kubernetes 1.{NATIVE_SINCE}, but kubernetes is {cluster.minor!r}; remove them"
        yield NATIVE.at(source, ("featureGates",), message, key=True)
    for index, gate in enumerate(cluster.feature_gates if new else ()):
        for needed in GATE_NEEDS.get(gate, ()):
            if needed not in cluster.feature_gates:
                message = f"gate {gate} needs the gate {needed}, which is off; add it to featureGates"
                yield NEEDED.at(source, ("featureGates", index), message)
    if cluster.gang != "native":
        return
    if not new:
        message = f"gang 'native' needs Kubernetes 1.{NATIVE_SINCE}, but kubernetes is {cluster.minor!r}; remove gang"
        yield NATIVE.at(source, ("gang",), message, shared=[("kubernetes",)])
        return
    for gate in GANG_GATES:
        if gate not in cluster.feature_gates:
            message = f"gang 'native' needs the feature gate {gate}, which is off; add it to featureGates"
            yield NATIVE.at(source, ("gang",), message, shared=[("featureGates",)])


def check_queue(name: str, queue: Queue, source: Source) -> Iterator[Finding]:
    """Yield fields that Volcano's queues have not, and quota of more pools than one."""
    for field in OF_KUEUE:
        if field in queue.model_fields_set:
            said = type(queue).model_fields[field].alias or field
            message = f"queue {name!r} belongs to Volcano, but {said} is a field of Kueue; remove it"
            yield FIELDS.at(source, ("queues", name, said), message, key=True)
    if len(queue.nominal_quota) > 1:
        pools = ", ".join(queue.nominal_quota)
        message = f"queue {name!r} of Volcano has quota for {pools}, which Volcano would add up; use one queue per pool"
        yield ONE_POOL.at(source, ("queues", name, "nominalQuota"), message, key=True)


def check_shared(cluster: Cluster, name: str, queue: Queue, source: Source) -> Iterator[Finding]:
    """Yield pools of a queue of Volcano's that a queue or a cohort of Kueue's promises too."""
    owners = {owner: cohort.nominal_quota for owner, cohort in cluster.cohorts.items()}
    owners |= {owner: one_queue.nominal_quota for owner, one_queue in cluster.queues_of("kueue").items()}
    for pool in queue.nominal_quota:
        other = next((owner for owner, quota in owners.items() if pool in quota), None)
        if other is not None:
            message = (
                f"pool {pool!r} has quota in Volcano's queue {name!r} and in Kueue's {other!r}; use separate pools"
            )
            yield SHARED.at(source, ("queues", name, "nominalQuota", pool), message, key=True)


def check_priorities(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield priorities that no class of Kubernetes may have."""
    for name, value in cluster.priorities.items():
        if value > HIGHEST:
            message = f"priority {name!r} is {value}, but Volcano supports at most {HIGHEST}; lower it"
            yield PRIORITY.at(source, ("priorities", name), message)


def check_gates(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a Kueue that holds pods without a queue, as it does with any of the integrations that imply pods.

    The finding stands at the operator that brings the integration, or at Kueue's own configuration. Of a Kueue that
    somebody else configures it is not known.
    """
    found = configuration(cluster)
    integrations = found.get("integrations")
    listed = integrations.get("frameworks") if isinstance(integrations, dict) else None
    holding = sorted(OF_PODS.intersection(map(str, listed))) if isinstance(listed, list) else []
    if holding and found.get("manageJobsWithoutQueueName"):
        choice = cluster.operators[Kueue.name]
        bringer = next((row.operator for row in carriers().values() if row.framework == holding[0]), None)
        derived = not isinstance(lookup(choice.values, CONFIGURATION), str)
        cause = bringer if derived and bringer in cluster.operators else None
        brings = f"{cause} makes Kueue" if cause else f"integration {holding[0]} makes Kueue"
        message = f"{brings} suspend the pods of Volcano's Jobs too; remove it, or the queues of Volcano"
        severity = Severity.ERROR if choice.managed else Severity.WARNING
        others: list[Path] = [("queues", name, "scheduler") for name in cluster.queues_of("volcano")]
        others += [("operators", name) for name in ("volcano", Kueue.name) if name in cluster.operators]
        yield GATED.at(source, ("operators", cause or Kueue.name), message, key=True, severity=severity, shared=others)
