"""JobSet: one replicated Job a role, which start, fail and restart together.

Facts: jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go, pkg/webhooks/jobset_webhook.go, pkg/controllers; kueue
v0.19.2 pkg/controller/jobs/jobset; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from trainyard.base.labels import SYNC_OPTIONS
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.kinds.job import INDEX_FIELD, INDEX_VARIABLE, indexed_job
from trainyard.render.kinds.objects import apply_patches, files, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.parts.health import by_conditions
from trainyard.render.parts.objects import Resource
from trainyard.specs.run import Run

BY_POLICY = "PodFailurePolicy"
TOO_LATE = "DeadlineExceeded"
"""Reasons of a failed Job (kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go)."""

DISRUPTION = "has condition DisruptionTarget"
"""In the message of a Job that its policy ended (kubernetes v1.35 pkg/controller/job/pod_failure_policy.go)."""

RULES = (
    {
        "name": "disruption",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": [BY_POLICY],
        "onJobFailureMessagePatterns": [DISRUPTION],
    },
    {"name": "hopeless", "action": "FailJobSet", "onJobFailureReasons": [BY_POLICY]},
    {"name": "deadline", "action": "FailJobSet", "onJobFailureReasons": [TOO_LATE]},
)
"""The first match counts; what matches none restarts the gang (jobset v0.12.0 pkg/controllers/failure_policy.go)."""

HEALTH = by_conditions(
    """\
local wanted, ready = 0, 0
for _, job in ipairs(obj.spec.replicatedJobs or {}) do
  wanted = wanted + (job.replicas or 1)
end
for _, job in ipairs(status.replicatedJobsStatus or {}) do
  ready = ready + (job.ready or 0) + (job.succeeded or 0)
end
""",
    """\
  hs.message = ready .. " of " .. wanted .. " jobs ready"
  if (status.restarts or 0) > 0 then
    hs.message = hs.message .. ", restart " .. status.restarts
  end
""",
    done="Completed",
)
"""Argo CD has no health for a JobSet: an Application is Healthy whatever it does."""


class JobSet(Kind):
    """A JobSet: the operator makes the headless Service and restarts all Jobs when one fails.

    A restart waits until every pod of the last attempt is gone, so that no name and no volume is there twice.
    """

    name = "JobSet"
    group = "jobset.x-k8s.io"
    version = "v1alpha2"
    gives = frozenset({"rank", "master", "hosts"})
    replicas = None
    suffix = 6
    """A dash and five characters after a pod's host name, counted by the webhook in the 63 of a DNS label."""
    objects = frozenset({"jobset.x-k8s.io/JobSet", "/ConfigMap"})
    inner = frozenset({"Pod", "Job"})
    annotations: ClassVar[Mapping[str, str]] = {SYNC_OPTIONS: "ServerSideApply=true"}
    ignore = ({"group": "jobset.x-k8s.io", "kind": "JobSet", "jsonPointers": ["/spec/suspend"]},)
    health = HEALTH
    behaviour = Behaviour(
        fails="all pods of all roles are deleted and created together",
        drained="the same; not counted if Kubernetes noticed the drain before other ranks failed",
        counts="a restart of all pods",
        done="all pods of the roles that end the run have ended with 0",
    )

    def host(self, run: str, role: str, index: int) -> str:
        """Return a pod's host name; a role is one Job, with index 0."""
        return f"{run}-{role}-0-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the operator's Service, which is called as the JobSet."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank=INDEX_VARIABLE,
            rank_field=INDEX_FIELD,
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the JobSet and the files."""
        yield queued(run, jobs(run, [replicated_job(run, role) for role in run.roles]))
        yield from files(run)


def jobs(run: Resolved, replicated_jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the specification of a JobSet of these replicated jobs, which fail and end as the run does."""
    restarts = run.sizing.restarts.value
    ends = [run.kind.called(role) for role in run.launch.ends]
    return {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "failurePolicy": {"maxRestarts": restarts, "restartStrategy": "BlockingRecreate", "rules": list(RULES)},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ends} if ends else None,
        "replicatedJobs": replicated_jobs,
    }


def replicated_job(run: Resolved, role: Role, *, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return one role as a replicated job: any failure of a pod fails it, and so restarts the gang."""
    spec = indexed_job(run, role, backoff=0, disrupted="FailJob")
    template = {**({"metadata": {"labels": dict(labels)}} if labels else {}), "spec": spec}
    called = run.kind.called(role.name)
    return {"name": called, "replicas": 1, "template": apply_patches(run, "Job", role.name, template)}


KIND = JobSet()
