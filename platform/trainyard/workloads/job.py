"""Job of Kubernetes itself: one role, indexed pods; no operator.

Facts: kubernetes v1.35 pkg/controller/job, staging/src/k8s.io/api/batch/v1/types.go; kueue v0.19.2
pkg/controller/jobs/job; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from trainyard.specs import Job
from trainyard.workloads.base import Object, PodSet, Workload

INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
"""Label of every pod of an Indexed Job."""

NAME_LABEL = "batch.kubernetes.io/job-name"
"""Label of every pod of a Job."""

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
"""What the Job controller adds to every container of an Indexed Job."""

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local status = obj.status or {}
local pods = (status.ready or 0) .. " of " .. (obj.spec.parallelism or 1) .. " pods ready"
if obj.spec.suspend then
  hs.status = "Suspended"
  hs.message = "Queued or stopped"
elseif obj.status ~= nil then
  hs.message = pods
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.status == "True" then
    if condition.type == "Failed" then
      return {status = "Degraded", message = condition.message or condition.reason or "Failed"}
    elseif condition.type == "Complete" then
      return {status = "Healthy", message = condition.message or "Complete"}
    elseif condition.type == "Suspended" then
      hs.status = "Suspended"
      hs.message = condition.message or "Queued or stopped"
    end
  end
end
return hs
"""
"""Argo CD calls a Job Healthy as soon as it carries a condition Suspended, of whatever status: while it runs."""


def pod_sets(job: Object) -> list[PodSet]:
    """Return the one pod set `main` of min(parallelism, completions) pods (kueue pkg/controller/jobs/job)."""
    spec = job.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("template"), dict):
        return []
    return [PodSet("main", count(spec), ("spec", "template"))]


def count(spec: Object) -> int:
    """Return how many pods of a Job run at once; one where it does not say."""
    stated = [value for name in ("parallelism", "completions") if type(value := spec.get(name)) is int]
    return max(0, min(stated)) if stated else 1


def pod_names(job: Object) -> list[str]:
    """Return the host name of the last pod."""
    metadata = job.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return [host(name, "", each.count - 1) for each in pod_sets(job) if isinstance(name, str) and each.count]


def host(name: str, _role: str, index: int) -> str:
    """Return a pod's host name: `<job>-<index>`."""
    return f"{name}-{index}"


def patchable(job: Job) -> frozenset[str]:
    """Return what a run is made of: a Service where pods must find each other, a ConfigMap where it has files."""
    return frozenset(
        {"Job", "Pod"} | ({"Service"} if job.nodes > 1 else set()) | ({"ConfigMap"} if job.files else set())
    )


WORKLOAD = Workload(
    kind="Job",
    group="batch",
    version="v1",
    operator=None,
    framework="batch/job",
    launchers=None,
    pod_sets=pod_sets,
    pod_names=pod_names,
    host=host,
    several_roles=False,
    elastic=True,
    patchable=patchable,
    ignore=(
        {
            "group": "batch",
            "kind": "Job",
            "jsonPointers": ["/spec/suspend", "/spec/parallelism", "/spec/completions"],
            "jqPathExpressions": [
                ".spec.template.spec.tolerations",
                ".spec.template.spec.nodeSelector",
                ".spec.template.spec.schedulingGates",
                ".spec.template.metadata.labels",
                ".spec.template.metadata.annotations",
            ],
        },
    ),
    health=HEALTH,
    ttl=("spec", "ttlSecondsAfterFinished"),
    injected=frozenset({INDEX_VARIABLE}),
)
