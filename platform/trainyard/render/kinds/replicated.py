"""What Kubeflow's kinds share: replica types under one field, a Service a pod, and containers restarted in place.

Facts: training-operator v1.9.4 pkg/controller.v1/common, pkg/core; kueue v0.19.2 pkg/controller/jobs/kubeflow; Argo CD
3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.render.kinds import pod_groups
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.behaviour import ONE_IS_ENOUGH, STAYS, Behaviour
from trainyard.render.kinds.kubeflow import (
    GROUP,
    INDEX_LABEL,
    WHOLE_SINCE,
    allowed_restarts,
    health,
    ignored_fields,
    ignored_whole,
    run_policy,
)
from trainyard.render.kinds.objects import files, pod, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.launchers.launch import PORT
from trainyard.render.parts.objects import Resource
from trainyard.specs.run import Run

INDEX = "REPLICA_INDEX"
"""Variable of ours with a pod's index, where the operator tells it by a label alone."""

MASTER, WORKER_TYPE = "Master", "Worker"

GROUP_OF_SETS, ONE_GROUP = "kueue.x-k8s.io/podset-group-name", "gang"
INDEX_OFFSET = "kueue.x-k8s.io/pod-index-offset"
"""Annotations of pod templates (kueue v0.19.2 apis/kueue/v1beta2/topology_types.go)."""

SLICES = Rule(
    id="run/slices",
    title="A run with slices is of a kind that keeps its workers in one set of pods.",
    why="Kueue needs slices of one size that divide the set of pods, and a Master is a set of its own",
    fix="use a kind whose workers are one set, such as JobSet",
    source="kueue v0.19.2 pkg/controller/jobframework/tas_validation.go",
    layer="queueing",
)

IN_PLACE = Behaviour(
    fails="its container restarts in the same pod; other ranks lose their peer, fail, and restart too",
    drained="its pod is created again; the other ranks restart in their pods",
    counts="as many restarts of containers as there are pods",
    done="all pods have ended with 0",
    late="the run fails when the kubelet ends its first pod",
    unready=ONE_IS_ENOUGH,
    faulty=STAYS,
)
"""Of a kind whose operator makes no gang anew: each pod goes on by itself."""


class Replicated(Kind):
    """Replica types, each with its number, its restart policy and its pod template.

    What Argo CD is told of a kind, and which objects its runs have, follow from its name and its field.
    """

    group = GROUP
    version = "v1"
    replicas = {"worker": WORKER_TYPE}  # noqa: RUF012
    waits_for_all = False
    behaviour = IN_PLACE
    field: ClassVar[str]
    """Of the spec, with the replica types."""
    port: ClassVar[int] = PORT
    """Where the operator says that the first worker listens, where it says so."""

    def __init_subclass__(cls) -> None:
        """Set the attributes that follow from the name and the field of a kind that has both."""
        super().__init_subclass__()
        if hasattr(cls, "name") and hasattr(cls, "field"):
            cls.objects = frozenset({f"{GROUP}/{cls.name}", "/ConfigMap"})
            cls.ignore = (ignored_fields(cls.name, cls.field),)
            cls.health = health(cls.field)

    def ignored(self, argocd: str) -> Sequence[Mapping[str, Any]]:
        """Return Argo CD's `ignoreDifferences` entries: with all replica types where it cannot look into them."""
        return self.ignore if order(argocd) < order(WHOLE_SINCE) else (ignored_whole(self.name, self.field),)

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-<type>-<index>`, which is also the name of the pod's Service."""
        return pod_name(run, role, index)

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services, which have no domain of the job's; pods have their index from their label."""
        return by_index(run.name, self.port)

    def says(self, run: Resolved) -> Mapping[str, Any]:
        """Return the fields of the spec beside the replica types, which hold for the job as a whole."""
        return {"runPolicy": run_policy(run, backoff=allowed_restarts(run))}

    def pods(self, run: Resolved) -> dict[str, Any]:
        """Return the replica types, each of whose pods has the run's deadline.

        The operator looks at the clock only when something happens (seen: a job went on after its deadline). That the
        kubelet ends the first of the pods is what happens.
        """
        names, late = self.replicas or {}, run.sizing.deadline_seconds
        return {names[role.name]: replica(run, role, deadline=late) for role in run.roles}

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the job, with its group where its operator makes one for Volcano, and the files."""
        pods = self.pods(run)
        spec = {**self.says(run), self.field: pods}
        if self.admitted_by(run.run.cluster) == "volcano":
            group = pod_groups.scheduling_policy(run, pods)
            spec["runPolicy"] = {**spec["runPolicy"], "schedulingPolicy": group}
        yield queued(run, spec)
        yield from files(run)


class Led(Replicated):
    """Of a Master, who is the first of the workers, and Workers; the operator tells every pod its rank."""

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-master-0` for the first worker, and `<job>-worker-<index - 1>` for the others."""
        return pod_name(run, MASTER.lower(), 0) if index == 0 else pod_name(run, role, index - 1)

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services, which have no domain of the job's, and the operator's RANK."""
        return Wiring(host=partial(self.host, run.name), rank="RANK", rank_field=None, port=self.port)

    def pods(self, run: Resolved) -> dict[str, Any]:
        """Return the workers as a Master and Workers.

        To Kueue these are two pod sets, each of which it places by itself. A group of two, one of a single pod, is
        placed as one; its Workers then have the ranks from 1 on, while the operator counts them from 0, so the offset
        is taken back (kueue v0.19.2 pkg/controller/tas/topology_ungater.go rankOffsets).
        """
        (role,) = run.roles
        near, late = run.sizing.topology, run.sizing.deadline_seconds
        if role.pods == 1:
            return {MASTER: replica(run, role, deadline=late)}
        first = {GROUP_OF_SETS: ONE_GROUP} if near is not None and near.value.slices is None else {}
        others = {**first, INDEX_OFFSET: "-1"} if first else {}
        return {
            MASTER: replica(run, role, many=1, deadline=late, notes=first),
            WORKER_TYPE: replica(run, role, many=role.pods - 1, deadline=late, notes=others),
        }

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield a run that has to be cut into equal parts near each other, of which one pod stands apart."""
        near = run.sizing.topology
        if near is not None and near.value.slices is not None and run.roles[0].pods > 1:
            message = (
                f"slices need all pods in one set, but kind {self.name!r} has a separate first pod; use another kind"
            )
            yield SLICES.at(run.run.source, ("kind",), message)


def replica(
    run: Resolved,
    role: Role,
    *,
    many: int | None = None,
    restart: str = "OnFailure",
    deadline: int | None = None,
    notes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return one replica type: all pods of a role, or so many of them, with annotations of their own (`notes`).

    The operator writes the restart policy into the pods, and warns of one that is there.
    """
    template = pod(run, role, restart="", deadline=deadline, notes=notes)
    return {"replicas": many or role.pods, "restartPolicy": restart, "template": template}


def pod_name(run: str, role: str, index: int) -> str:
    """Return the name of a pod, and of its Service, as the operator makes it of the replica type and the index."""
    return f"{run}-{role}-{index}"


def by_index(run: str, port: int) -> Wiring:
    """Return how pods meet that are called by their index and have it from their label."""
    label = f"metadata.labels['{INDEX_LABEL}']"
    return Wiring(host=partial(pod_name, run), rank=INDEX, rank_field=label, port=port, fields={INDEX: label})
