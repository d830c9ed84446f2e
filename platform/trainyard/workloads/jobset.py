"""JobSet: Jobs of several roles that start, fail and restart together.

Facts: jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go, pkg/webhooks/jobset_webhook.go, pkg/controllers; kueue
v0.19.2 pkg/controller/jobs/jobset; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.specs import Job
from trainyard.workloads.base import Object, PodSet, Workload
from trainyard.workloads.job import INDEX_VARIABLE, count

RANDOM = 6
"""A dash and five characters after a pod's host name, counted by the webhook in the 63 of a DNS label."""

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local status = obj.status or {}
local wanted, ready = 0, 0
for _, job in ipairs(obj.spec.replicatedJobs or {}) do
  wanted = wanted + (job.replicas or 1)
end
for _, job in ipairs(status.replicatedJobsStatus or {}) do
  ready = ready + (job.ready or 0) + (job.succeeded or 0)
end
if obj.spec.suspend then
  hs.status = "Suspended"
  hs.message = "Queued or stopped"
elseif obj.status ~= nil then
  hs.message = ready .. " of " .. wanted .. " jobs ready"
  if (status.restarts or 0) > 0 then
    hs.message = hs.message .. ", restart " .. status.restarts
  end
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.status == "True" then
    if condition.type == "Failed" then
      return {status = "Degraded", message = condition.message or condition.reason or "Failed"}
    elseif condition.type == "Completed" then
      return {status = "Healthy", message = condition.message or "Completed"}
    elseif condition.type == "Suspended" then
      hs.status = "Suspended"
      hs.message = condition.message or "Queued or stopped"
    end
  end
end
return hs
"""
"""Argo CD has no health for a JobSet: an Application is Healthy whatever it does."""


def replicated_jobs(jobset: Object) -> Iterator[tuple[int, str, int, Object]]:
    """Yield index, name, replicas and Job spec of every replicated job that is well formed."""
    spec = jobset.get("spec")
    listed = spec.get("replicatedJobs") if isinstance(spec, dict) else None
    for index, job in enumerate(listed if isinstance(listed, list) else []):
        template = job.get("template") if isinstance(job, dict) else None
        inner = template.get("spec") if isinstance(template, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("template"), dict) and isinstance(job.get("name"), str):
            replicas = job.get("replicas")
            yield index, job["name"], max(0, replicas) if type(replicas) is int else 1, inner


def template_path(index: int) -> Path:
    """Return where the pod template of a replicated job stands."""
    return ("spec", "replicatedJobs", index, "template", "spec", "template")


def pod_sets(jobset: Object) -> list[PodSet]:
    """Return one pod set a replicated job: replicas times min(parallelism, completions)."""
    return [
        PodSet(name, replicas * count(inner), template_path(index))
        for index, name, replicas, inner in replicated_jobs(jobset)
    ]


def pod_names(jobset: Object) -> list[str]:
    """Return the host name of the last pod of the last Job of every replicated job."""
    metadata = jobset.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str):
        return []
    return [
        f"{name}-{role}-{replicas - 1}-{count(inner) - 1}"
        for _, role, replicas, inner in replicated_jobs(jobset)
        if replicas and count(inner)
    ]


def host(name: str, role: str, index: int) -> str:
    """Return a pod's host name; a role is one Job, with index 0."""
    return f"{name}-{role}-0-{index}"


def patchable(job: Job) -> frozenset[str]:
    """Return what a run is made of; `Job` is the template of a role's Job, the Service is the operator's own."""
    return frozenset({"JobSet", "Job", "Pod"} | ({"ConfigMap"} if job.files else set()))


WORKLOAD = Workload(
    kind="JobSet",
    group="jobset.x-k8s.io",
    version="v1alpha2",
    operator="jobset",
    framework="jobset.x-k8s.io/jobset",
    launchers=None,
    pod_sets=pod_sets,
    pod_names=pod_names,
    host=host,
    suffix=RANDOM,
    patchable=patchable,
    ignore=({"group": "jobset.x-k8s.io", "kind": "JobSet", "jsonPointers": ["/spec/suspend"]},),
    health=HEALTH,
    ttl=("spec", "ttlSecondsAfterFinished"),
    injected=frozenset({INDEX_VARIABLE}),
    annotations={"argocd.argoproj.io/sync-options": "ServerSideApply=true"},
)
