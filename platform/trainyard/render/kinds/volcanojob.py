"""VolcanoJob: Volcano's Job, one task a role, whose pods its own scheduler binds all at once.

Facts: volcano v1.14.1 pkg/controllers/job (state/, plugins/env, plugins/svc), pkg/webhooks/admission/jobs; the same on
a real control plane; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.kinds.base import NOT_WORTH_A_RETRY, Kind, Resolved
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.kinds.objects import files, make_object, pod
from trainyard.render.launchers import Role, Wiring
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import Placing
from trainyard.specs.run import Run

INDEX = "VC_TASK_INDEX"
INDEX_LABEL = "volcano.sh/task-index"
"""A pod's index in its task: a variable by the plugin env, and a label (pkg/controllers/job/job_controller_util.go)."""

RETRIES_OF_A_TASK = 3
"""The webhook's own number, written so that the manifest can be applied again; pods are never restarted in place."""

LIMIT = Rule(
    id="vc-deadline",
    title="A VolcanoJob with maxHours has no restarts.",
    why="Volcano has no deadline for a job: the kubelet ends its pods, and every restart has the full time again",
    fix="set restarts: 0, or use a kind whose operator has a deadline",
    source="volcano v1.14.1 pkg/controllers/job; kubernetes v1.35 pkg/kubelet/active_deadline.go",
    layer="run",
    severity=Severity.WARNING,
)
ENDS = Rule(
    id="vc-ends",
    title="A VolcanoJob ends with all of its roles, or with a single one.",
    why="the first role that completes would end the job, while other roles still save",
    fix="use a kind that waits for several roles, such as JobSet",
    source="volcano v1.14.1 pkg/controllers/job/job_controller_handler.go TaskCompletedEvent",
    layer="run",
)

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local state = (obj.status or {}).state or {}
local phase = state.phase
if phase == nil then
  return hs
end
hs.message = state.message or phase
if phase == "Completed" then
  hs.status = "Healthy"
elseif phase == "Failed" or phase == "Terminated" or phase == "Aborted" then
  hs.status = "Degraded"
elseif phase == "Pending" and (obj.status.pending or 0) == 0 then
  hs.status = "Suspended"
  hs.message = "Queued"
else
  local wanted = 0
  for _, task in ipairs(obj.spec.tasks or {}) do
    wanted = wanted + (task.replicas or 0)
  end
  local active = (obj.status.running or 0) + (obj.status.succeeded or 0)
  hs.message = phase .. ", " .. active .. " of " .. wanted .. " pods running"
end
return hs
"""
"""Pods are made when the queue has room for the gang; until then the phase is Pending, and no pod is (measured)."""


class VolcanoJob(Kind):
    """A Job of Volcano: its scheduler starts the gang at once, and its controller restarts it as one.

    A restart waits until the pods of the last attempt are gone. It counts every restart, for a failure and for a pod
    that its node lost alike; the one that reaches `maxRetry` ends the job, so that there is one less.
    """

    name = "VolcanoJob"
    group = "batch.volcano.sh"
    version = "v1alpha1"
    api_kind = "Job"
    scheduler = "volcano"
    gives = frozenset({"rank", "master", "hosts", "elastic"})
    replicas = None
    objects = frozenset({"batch.volcano.sh/Job", "/ConfigMap"})
    health = HEALTH
    behaviour = Behaviour(
        fails="all pods of all roles are deleted and created together; for an elastic job, only that pod",
        drained="the same, and it counts",
        counts="a restart of all pods; for an elastic job, as many restarts as there are pods",
        done="all pods have ended with 0, or those of the role that ends the run; for an elastic job, the first",
        late="the kubelet ends the pods, which counts as a failure; each restart has the full time again",
        unready="Volcano starts no pod before all find room, and waits for a pod that fails to start",
        order="anywhere in the pool, since Volcano knows no topology",
    )

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-<task>-<index>`."""
        return f"{run}-{role}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the Service of the plugin svc, which is called as the job."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank=INDEX,
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
        )

    def placing(self, run: Resolved, role: Role) -> Placing:
        """Return the same without the scheduler, which the job names."""
        found = super().placing(run, role)
        return replace(found, fields={key: value for key, value in found.fields.items() if key != "schedulerName"})

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the Job and the files; every default is written, since another apply is refused without them."""
        job, pods = run.run.job, sum(role.pods for role in run.roles)
        elastic = job.min_nodes is not None
        restarts = run.sizing.restarts.value * (pods if elastic else 1)
        least = [fewest(run, role) for role in run.roles]
        spec: dict[str, Any] = {
            "schedulerName": "volcano",
            "queue": job.queue,
            "priorityClassName": job.priority,
            "minAvailable": sum(least),
            "minSuccess": 1 if run.launch.led else None,
            "maxRetry": restarts + 1,
            "plugins": {"env": [], "svc": ["--publish-not-ready-addresses=true", "--disable-network-policy=true"]},
            "policies": policies(again="RestartPod" if elastic else "RestartJob"),
            "tasks": [task(run, role, count) for role, count in zip(run.roles, least, strict=True)],
        }
        yield make_object(run, self.api_version, self.object_kind, spec=spec)
        yield from files(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield a deadline that begins anew with each restart, and several roles that would have to end the run."""
        job, source, restarts = run.run.job, run.run.source, run.sizing.restarts.value
        if job.max_hours is not None and restarts:
            message = (
                f"maxHours {job.max_hours:g} applies to each of the {restarts + 1} starts of a VolcanoJob "
                "separately; set "
                "restarts: 0, or use another kind"
            )
            yield LIMIT.at(source, ("maxHours",), message)
        if len(run.launch.ends) > 1:
            message = (
                f"roles {' and '.join(run.launch.ends)} end the run together, but a VolcanoJob ends with one role; "
                "use JobSet"
            )
            yield ENDS.at(source, ("kind",) if job.kind else ("roles",), message)


def fewest(run: Resolved, role: Role) -> int:
    """Return how many pods of a role there have to be: all, but of an elastic job's workers."""
    least = run.run.job.min_nodes
    return least if role is run.roles[0] and least is not None else role.pods


def policies(*, again: str) -> list[dict[str, Any]]:
    """Return the policies that end the job for good and those that restart it; the first that matches counts.

    The exit code is that of the pod's first container, which are in the order of their names.
    """
    hopeless = [{"exitCode": code, "action": "TerminateJob"} for code in NOT_WORTH_A_RETRY]
    return [*hopeless, {"events": ["PodFailed", "PodEvicted"], "action": again}]


def task(run: Resolved, role: Role, least: int) -> dict[str, Any]:
    """Return one role as a task; where its end is the run's, the others are ended with it."""
    return {
        "name": role.name,
        "replicas": role.pods,
        "minAvailable": least,
        "maxRetry": RETRIES_OF_A_TASK,
        "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}] if role.name in run.launch.ends else None,
        "template": pod(run, role, deadline=run.sizing.deadline_seconds),
    }


KIND = VolcanoJob()
