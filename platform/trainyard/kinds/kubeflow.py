"""What Kubeflow's kinds share: a map of replicas, a run policy, and conditions that say how it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.findings import Finding
from trainyard.kinds.base import Resolved, pod
from trainyard.parts.health import by_conditions
from trainyard.rules import Rule

GROUP = "kubeflow.org"

INDEX_LABEL = "training.kubeflow.org/replica-index"
"""Of every pod of a replica type (training-operator v1.9.4, mpi-operator v0.8.2: their labels)."""

INDEX = "REPLICA_INDEX"
"""Variable of ours with a pod's index, where the operator tells it by a label alone."""

MASTER, WORKER_TYPE = "Master", "Worker"

GROUP_OF_SETS, ONE_GROUP = "kueue.x-k8s.io/podset-group-name", "gang"
INDEX_OFFSET = "kueue.x-k8s.io/pod-index-offset"
"""Annotations of pod templates (kueue v0.19.2 apis/kueue/v1beta2/topology_types.go)."""

SLICES = Rule(
    id="run/slices",
    title="A run that is cut into slices has a kind that keeps its workers in one set.",
    why="Kueue takes slices of one size that divide a set of pods, and a Master is a set of its own",
    fix="name a kind whose workers are one set, such as JobSet",
    source="kueue v0.19.2 pkg/controller/jobframework/tas_validation.go",
    layer="queueing",
)


def health(field: str) -> str:
    """Return the health script of a kind whose replicas are in a field: pods that run, of those that are asked for."""
    return by_conditions(
        f"""\
local wanted, active = 0, 0
for _, replica in pairs(obj.spec.{field} or {{}}) do
  wanted = wanted + (replica.replicas or 1)
end
for _, replica in pairs(status.replicaStatuses or {{}}) do
  active = active + (replica.active or 0) + (replica.succeeded or 0)
end
""",
        '  hs.message = active .. " of " .. wanted .. " pods running"\n',
        done="Succeeded",
        holder="(obj.spec.runPolicy or {})",
    )


def ignored(kind: str, field: str) -> dict[str, Any]:
    """Return what Argo CD must not compare: what Kueue writes into a job that it admits (argo-cd v3.2.6, measured)."""
    template = f".spec.{field}[].template.spec"
    return {
        "group": GROUP,
        "kind": kind,
        "jsonPointers": ["/spec/runPolicy/suspend"],
        "jqPathExpressions": [f"{template}.tolerations", f"{template}.nodeSelector"],
    }


def replicas(run: Resolved, restart: Mapping[str, str], *, deadline: int | None = None) -> dict[str, Any]:
    """Return all replica types of a run; `restart` has the policy of each role, `deadline` is that of every pod.

    The operator writes the policy into the pods, and warns of one that is there.
    """
    names = run.kind.replicas or {}
    return {
        names[role.name]: {
            "replicas": role.pods,
            "restartPolicy": restart[role.name],
            "template": pod(run, role, restart="", deadline=deadline),
        }
        for role in run.roles
    }


def led(run: Resolved, restart: str, *, deadline: int | None = None) -> dict[str, Any]:
    """Return the workers as a Master, who is the first of them, and Workers.

    To Kueue these are two pod sets, each of which it places by itself. A group of two, one of a single pod, is placed
    as one; its Workers then have the ranks from 1 on, while the operator counts them from 0, so the offset is taken
    back (kueue v0.19.2 pkg/controller/tas/topology_ungater.go rankOffsets).
    """
    (role,) = run.roles
    near = run.sizing.topology
    together = near is not None and near.value.slices is None and role.pods > 1
    group = {GROUP_OF_SETS: ONE_GROUP} if together else {}
    first = {
        "replicas": 1,
        "restartPolicy": restart,
        "template": pod(run, role, restart="", deadline=deadline, notes=group),
    }
    if role.pods == 1:
        return {MASTER: first}
    others = pod(run, role, restart="", deadline=deadline, notes={**group, INDEX_OFFSET: "-1"} if together else {})
    return {MASTER: first, WORKER_TYPE: {"replicas": role.pods - 1, "restartPolicy": restart, "template": others}}


def first_is_master(run: str, role: str, index: int) -> str:
    """Return the name of a pod, and of its Service, where the first worker is the Master."""
    return f"{run}-master-0" if index == 0 else f"{run}-{role}-{index - 1}"


def check_split(run: Resolved) -> Iterator[Finding]:
    """Yield a run that has to be cut into equal parts near each other, of which one pod stands apart."""
    near = run.sizing.topology
    if near is not None and near.value.slices is not None and run.roles[0].pods > 1:
        message = f"kind {run.kind.name!r} sets one pod apart, so its pods cannot be cut into slices; name another"
        yield SLICES.at(run.run.source, ("kind",), message)


def allowed(run: Resolved) -> int:
    """Return how many restarts of containers a gang may have: each of its own restarts is one of every pod.

    The operator fails a job as soon as their sum is the limit, and at the first where the limit is 0 (training-operator
    v1.9.4 pkg/core/job.go PastBackoffLimit).
    """
    restarts = run.sizing.restarts.value
    return restarts * sum(role.pods for role in run.roles) + 1 if restarts else 0


def deadline(run: Resolved) -> int | None:
    """Return the deadline of every pod: the operator looks at the clock only when something happens.

    Seen: a job went on after its deadline. That the kubelet ends the first of its pods is what happens.
    """
    return run.sizing.deadline.value if run.sizing.deadline else None


def run_policy(run: Resolved, *, backoff: int) -> dict[str, Any]:
    """Return what holds for the job as a whole; when it ends, pods that still run are taken away."""
    deadline = run.sizing.deadline
    return {
        "cleanPodPolicy": "Running",
        "backoffLimit": backoff,
        **({"activeDeadlineSeconds": deadline.value} if deadline else {}),
    }
