"""RayCluster: a head and workers that stay until somebody ends them; what a RayJob makes is one too.

Facts: kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go, raycluster_controller.go, utils/validation.go; kueue
v0.19.2 pkg/controller/jobs/raycluster; ray v2.60 python/ray/dashboard/modules/reporter; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.behaviour import ANYHOW, SERVES, Behaviour
from trainyard.render.kinds.objects import files, pod, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.launchers.ray import AGENT, ALIVE, DASHBOARD, HEAD
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import WORKER
from trainyard.render.sizing.node import size
from trainyard.specs.run import Run

GROUP = "ray.io"

ENDLESS = Rule(
    id="run/endless",
    title="A Ray cluster has a deadline.",
    why="a RayCluster never ends: it keeps its GPUs when the program has finished or failed",
    fix="set maxHours, or use kind: RayJob",
    source="kuberay v1.6.2 ray-operator/apis/ray/v1/raycluster_types.go RayClusterStatus",
    layer="run",
    severity=Severity.WARNING,
)

APART = Rule(
    id="run/ray-host-network",
    title="The head and the workers of a Ray cluster use the same network.",
    why="NetworkPolicies let the team's pods reach the head, but not nodes, whose network these workers use",
    fix="add a NetworkPolicy in platform/extra that opens the head to the nodes, or use fabric: tcp",
    source="kubernetes/website v1.35 content/en/docs/concepts/services-networking/network-policies.md",
    layer="run",
    severity=Severity.WARNING,
)

SMALL = Rule(
    id="run/ray-object-store",
    title="Ray's object store fits in shared memory.",
    why="Ray does not start with less than 75 MiB, and uses half of the shared memory for its store",
    fix="raise sharedMemory to 150Mi or more, or remove it",
    source="ray v2.60 python/ray/_private/ray_constants.py OBJECT_STORE_MINIMUM_MEMORY_BYTES",
    layer="run",
)

LEAST_STORE = 75 * 1024 * 1024
"""Bytes (ray v2.60 python/ray/_private/ray_constants.py OBJECT_STORE_MINIMUM_MEMORY_BYTES)."""

FAILS = "Ray Train restarts all ranks in their pods, as often as the program allows"
"""What becomes of ranks, whatever made the cluster."""

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local status, found = obj.status or {}, {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local function is(name) return found[name] ~= nil and found[name].status == "True" end
if (obj.spec or {}).suspend or is("RayClusterSuspended") or is("RayClusterSuspending") then
  return {status = "Suspended", message = "Queued or stopped"}
elseif obj.status == nil then
  return hs
end
hs.message = (status.readyWorkerReplicas or 0) .. " of " .. (status.desiredWorkerReplicas or 0) .. " workers ready"
if is("ReplicaFailure") then
  return {status = "Degraded", message = found.ReplicaFailure.message or "ReplicaFailure"}
elseif is("HeadPodReady") and (status.readyWorkerReplicas or 0) >= (status.desiredWorkerReplicas or 0) then
  hs.status = "Healthy"
end
return hs
"""
"""Conditions tell, since `state` still says that a cluster is suspended while it starts (kuberay 1.6.2, seen)."""


class RayKind(Kind):
    """What a RayCluster and a RayJob share: pods that are made anew one by one, under names that nobody knows before.

    The head is found by a Service of the operator's. When a worker is lost another takes its place, and Ray Train goes
    on as the program says; when the head is lost the cluster is new, and the driver starts again.
    """

    group = GROUP
    version = "v1"
    gives = frozenset({"ray"})
    required = frozenset({HEAD})
    replicas = {WORKER: WORKER, HEAD: HEAD}  # noqa: RUF012
    asks = ({"ray.io/node-type": "head"}, DASHBOARD)

    def host(self, run: str, role: str, _index: int) -> str:
        """Return the Service of the head; workers have a name that ends by chance, and is cut to fit."""
        return f"{run}-head-svc" if role == HEAD else f"{run}-{role}"

    def wiring(self, run: Run) -> Wiring:
        """Return the name of the head; workers have none that others could know."""
        return Wiring(host=lambda role, index: self.host(run.name, role, index), rank="", rank_field=None)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield too little shared memory, and workers whose network no policy lets reach the head."""
        said = run.run.job.shared_memory
        if said is not None and size(run.sizing.worker.shared_memory.value) // 2 < LEAST_STORE:
            message = f"sharedMemory is {said}, but Ray needs 75Mi in half of it; raise it to 150Mi or more"
            yield SMALL.at(run.run.source, ("sharedMemory",), message)
        if any(role.size.fabric.host for role in run.roles):
            message = (
                "workers use the host network, and no NetworkPolicy lets them reach the head; "
                "allow the nodes' addresses"
            )
            yield APART.at(run.run.source, ("fabric",), message)


class RayCluster(RayKind):
    """A RayCluster: the head submits the driver to itself, and everything stays when that has ended."""

    name = "RayCluster"
    objects = frozenset({"ray.io/RayCluster", "/ConfigMap"})
    ignore = ({"group": GROUP, "kind": "RayCluster", "jsonPointers": ["/spec/suspend"]},)
    behaviour = Behaviour(
        fails=FAILS,
        drained="a worker's pod is created again; after a lost head or a new admission the driver restarts",
        counts="a start of the driver by one head",
        done="its job is retired: it does not end with its driver",
        late="Kueue takes the quota back and the pods are deleted",
        order=ANYHOW,
        faulty=SERVES,
    )
    health = HEALTH

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the RayCluster and the files."""
        yield queued(run, cluster(run))
        yield from files(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield a cluster that nothing ends."""
        yield from super().check(run)
        if run.run.job.max_hours is None:
            message = "a RayCluster never ends without maxHours; set maxHours, or kind: RayJob"
            yield ENDLESS.at(run.run.source, ("kind",), message)


def cluster(run: Resolved) -> dict[str, Any]:
    """Return the specification of a Ray cluster: a head that takes no work of Ray's, and one group of workers."""
    roles = {role.name: role for role in run.roles}
    head, worker = roles[HEAD], roles[WORKER]
    count = {"replicas": worker.pods, "minReplicas": worker.pods, "maxReplicas": worker.pods, "numOfHosts": 1}
    return {
        "headGroupSpec": {
            "rayStartParams": {"num-cpus": "0", **store(head)},
            "template": pod(run, head, restart="Always", probes=probes("/api/gcs_healthz", DASHBOARD)),
        },
        "workerGroupSpecs": [
            {
                "groupName": worker.name,
                **count,
                "rayStartParams": {**gpus(worker), **store(worker)},
                "template": pod(run, worker, restart="Always", probes=probes(ALIVE, AGENT)),
            }
        ],
    }


def store(role: Role) -> dict[str, str]:
    """Return the size of Ray's object store: half of `/dev/shm`, since NCCL and data loaders need the rest.

    By itself Ray takes 30 % of the memory, and a folder on disk where that is more than `/dev/shm` holds.
    """
    return {"object-store-memory": str(size(role.size.shared_memory.value) // 2)}


def gpus(role: Role) -> dict[str, str]:
    """Return the number of GPUs, which the operator would only find under some names of resources."""
    count = role.size.gpus.value
    return {"num-gpus": str(count)} if count else {}


def probes(path: str, port: int) -> dict[str, Any]:
    """Return how the kubelet sees that a Ray node is well: the operator's own probes want wget of the image.

    The path says whether it is ready; the node's own agent, whether it is alive. Times are the operator's.
    """
    alive = {"httpGet": {"path": ALIVE, "port": AGENT}}
    often = {"periodSeconds": 5, "timeoutSeconds": 5}
    return {
        "livenessProbe": {**alive, **often, "initialDelaySeconds": 30, "failureThreshold": 120},
        "readinessProbe": {"httpGet": {"path": path, "port": port}, **often, "initialDelaySeconds": 10},
    }


KIND = RayCluster()
