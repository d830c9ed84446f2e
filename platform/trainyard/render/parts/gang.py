"""Gangs whose pods are bound to nodes all at once or not at all: by scheduler-plugins' Coscheduling or natively.

Kueue counts quota and, without a topology, no nodes: two gangs that it admits may each get half of the nodes that they
need, and wait for each other. The second scheduler binds no pod of a group before so many of it have found a node.
Facts: scheduler-plugins v0.34.7 pkg/coscheduling, apis/scheduling/v1alpha1; its chart's scheduler.name.
"""

from __future__ import annotations

from trainyard.base.versions import minor
from trainyard.render.parts.pods import BY_KUEUE, Placing
from trainyard.render.sizing import WORKER, Sizing
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.cluster import GANG_GATES
from trainyard.specs.releases.facts import lookup
from trainyard.specs.run import Run

OPERATOR = "scheduler-plugins"
GROUP = "scheduling.x-k8s.io"
KIND = "PodGroup"

LABEL = f"{GROUP}/pod-group"
"""Of every pod of a group: its name (apis/scheduling/v1alpha1/types.go PodGroupLabel)."""

SCHEDULER = "scheduler-plugins-scheduler"
"""The second scheduler, unless the chart's value `scheduler.name` says otherwise."""

VOLCANO = "volcano"
"""Volcano's scheduler, as pods name it."""

NATIVE_SINCE = 37
"""Minor release whose Jobs say that they are gangs (kubernetes v1.37.2 pkg/apis/batch/types.go)."""

PATIENCE = 60
"""Seconds for which those that have a node keep it for the others; the chart's 10 are short for hundreds of pods."""


def least(run: Run, sizing: Sizing) -> dict[str, int]:
    """Return how many pods of each role have to be bound for any to start: all, or an elastic job's fewest."""
    found = {role.name: role.nodes.value for role in sizing.roles}
    return found if run.job.min_nodes is None else {**found, WORKER: run.job.min_nodes}


def is_coscheduled(cluster: Cluster) -> bool:
    """Whether scheduler-plugins binds the gangs of a cluster, by a group and a label."""
    return cluster.gang == "coscheduling"


def is_native(cluster: Cluster) -> bool:
    """Whether kube-scheduler binds the gangs of plain Jobs on a cluster: its release knows them, its gates are on."""
    known = minor(cluster.kubernetes) >= NATIVE_SINCE
    return cluster.gang == "native" and known and {*GANG_GATES} <= {*cluster.feature_gates}


def native(run: Run, pods: int) -> dict[str, object]:
    """Return the field of a Job's spec by which kube-scheduler binds its gang; empty where it does not, or for one pod.

    The Job controller makes Workload and PodGroup of it, and counts all pods unless a number is said; a number above
    parallelism is refused. The group is preempted as a whole. Facts: kubernetes v1.37.2 pkg/apis/batch/validation,
    pkg/controller/job/job_scheduling_manager.go.
    """
    if run.cluster.gang != "native" or run.job.array is not None or pods < 2:
        return {}
    least = run.job.min_nodes
    gang = {} if least is None else {"minCount": least}
    return {"scheduling": {"schedulingPolicy": {"gang": gang}, "disruptionMode": {"all": {}}}}


def scheduler(cluster: Cluster) -> str:
    """Return the name of the scheduler that binds gangs."""
    choice = cluster.operators.get(OPERATOR)
    said = lookup(choice.values, "scheduler.name") if choice else None
    return said if isinstance(said, str) else SCHEDULER


def by_volcano(pool: Pool) -> Placing:
    """Return how a pod gets to its node by Volcano: no flavor of Kueue adds the tolerations of the pool's taints."""
    tolerations = pool.tolerations()
    return Placing({"schedulerName": VOLCANO, **({"tolerations": tolerations} if tolerations else {})}, by_kueue=False)


def placing(run: Run) -> Placing:
    """Return how a pod of a gang gets to its node."""
    if not is_coscheduled(run.cluster):
        return BY_KUEUE
    return Placing({"schedulerName": scheduler(run.cluster)}, {LABEL: run.name})
