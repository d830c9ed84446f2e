"""RayJob: a Ray cluster, and a pod that submits the driver to it; both go when the driver has ended.

Facts: kuberay v1.6.2 ray-operator/controllers/ray/rayjob_controller.go, common/job.go; kueue v0.19.2
pkg/controller/jobs/rayjob; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.behaviour import ANYHOW, SERVES, Behaviour
from trainyard.render.kinds.objects import files, pod, queued
from trainyard.render.kinds.raycluster import FAILS, GROUP, RayKind, cluster
from trainyard.render.launchers import Wiring
from trainyard.render.launchers.ray import HEAD, attempts
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import Implied, RoleSpec
from trainyard.render.sizing import roles as of_run
from trainyard.specs.run import Run

SUBMITTER = "submitter"
"""What Kueue calls the pod that submits the driver."""

SUBMISSIONS = 6
"""How often the submitter is tried again, longer apart each time: in ten minutes a new head may come."""

NO_GRACE = 1
"""Seconds that the submitter gets to end: it has nothing to save, and as process 1 of its pod heeds no SIGTERM."""

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local status = obj.status or {}
local word = status.jobDeploymentStatus or ""
local why = status.message or ""
if why == "" then why = status.reason or "" end
if word == "Failed" or word == "ValidationFailed" then
  return {status = "Degraded", message = why ~= "" and why or word}
elseif word == "Complete" and status.jobStatus ~= "SUCCEEDED" then
  return {status = "Degraded", message = "The driver was stopped"}
elseif word == "Complete" then
  return {status = "Healthy", message = why ~= "" and why or word}
elseif (obj.spec or {}).suspend or word == "Suspended" or word == "Suspending" then
  return {status = "Suspended", message = "Queued or stopped"}
elseif word ~= "" then
  hs.message = word
  if (status.failed or 0) > 0 then
    hs.message = hs.message .. ", failed " .. status.failed .. " times"
  end
end
return hs
"""


class RayJob(RayKind):
    """A RayJob: the driver's end is the job's, and a driver that fails is started again on a new cluster.

    How often depends on the head alone, since a worker that is lost is Ray Train's to get over. The submitter follows
    the driver and shows what it prints; one that is lost is made again, and finds the driver running.
    """

    name = "RayJob"
    replicas = {**RayKind.replicas, SUBMITTER: SUBMITTER}  # noqa: RUF012
    suffix = 6
    """A dash and five characters between the job's name and the rest of what is called after it."""
    objects = frozenset({"ray.io/RayJob", "/ConfigMap"})
    ignore = ({"group": GROUP, "kind": "RayJob", "jsonPointers": ["/spec/suspend"]},)
    behaviour = Behaviour(
        fails=FAILS,
        drained="a worker's pod is created again; after a lost head or a new admission the driver restarts",
        counts="a new cluster after the driver failed",
        done="the driver has ended with 0",
        order=ANYHOW,
        faulty=SERVES,
    )
    health = HEALTH

    def beside(self, run: Run, roles: Sequence[RoleSpec]) -> Iterator[RoleSpec]:
        """Yield the submitter, on the head's pool."""
        heads = {role.name: None if role.anywhere else role.pool_name for role in roles}
        if HEAD in heads:
            implied = Implied("kind RayJob: the operator submits the driver from it", cpus=1, memory="1Gi")
            yield of_run.unwritten_role(run, SUBMITTER, implied, heads[HEAD])

    def wiring(self, run: Run) -> Wiring:
        """Return the same, with an operator that submits the driver."""
        return replace(super().wiring(run), submits=True)

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the RayJob and the files.

        Its cluster goes as soon as the driver has ended, which is when Kueue gives the quota to others.
        """
        (submitter,) = (role for role in run.roles if role.name == SUBMITTER)
        spec = {
            "entrypoint": shlex.join(run.launch.entrypoint),
            "submissionMode": "K8sJobMode",
            "shutdownAfterJobFinishes": True,
            "backoffLimit": attempts(run.run, run.sizing, run.specs),
            "activeDeadlineSeconds": run.sizing.deadline_seconds,
            "submitterConfig": {"backoffLimit": SUBMISSIONS},
            "rayClusterSpec": cluster(run),
            "submitterPodTemplate": pod(run, submitter, grace=NO_GRACE),
        }
        yield queued(run, spec)
        yield from files(run)


KIND = RayJob()
