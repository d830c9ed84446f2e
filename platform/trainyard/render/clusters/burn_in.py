"""A test of idle nodes at night: a queue that only borrows, a Job a pool that takes as many nodes as are idle.

Every workload preempts it: its priority is below all, and its queue has no quota of its own, so that others reclaim
what it borrows. Kueue admits a Job with fewer pods than it has nodes, down to one (kueue v0.19.2
pkg/controller/jobs/job/job_controller.go, gate PartialAdmission). A pod takes all GPUs of a node, one pod a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import NAMESPACE, POD_SECURITY, PRIORITY, QUEUE, SYNC_WAVE
from trainyard.render.clusters import burn_in_marker
from trainyard.render.operators.base import tolerations
from trainyard.render.operators.kueue import shares_fairly
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import drop_empty
from trainyard.render.parts.programs import program_text
from trainyard.render.sizing import gpus
from trainyard.render.sizing.burn_in import FAILED, NAME, marks, priority, stated, tested_pools
from trainyard.render.sizing.health import taint_key
from trainyard.render.sizing.quota import covered_resources
from trainyard.specs import Cluster
from trainyard.specs.models.health import BurnIn

KUEUE = "kueue.x-k8s.io/v1beta2"
FEWEST = "kueue.x-k8s.io/job-min-parallelism"
EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"
ANYWHERE = "kueue.x-k8s.io/podset-unconstrained-topology"
"""Annotations of a Job and of its pods (kueue v0.19.2 pkg/controller/jobs/job, apis/kueue/v1beta2)."""

PROGRAMS, FOLDER = {"check.py": "check", "burn_in.py": "burn_in"}, "/etc/trainyard"

START = 30
"""Minutes for the image, torch and the sum, beyond those in which GPUs compute (assumed)."""

KEPT = 24 * 3600
"""Seconds for which failed pods stay, so that alerts and people see them: until the next night."""

CPUS, MEMORY, SHARED = 2, 8, 1
"""For each GPU: CPUs, and GiB of memory and of shared memory (assumed)."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the namespace, the queue, the priority, the programs and a CronJob for each pool."""
    said, pools = stated(cluster), tested_pools(cluster)
    if said is None or not pools:
        return
    at = ("health", "burnIn")
    modes = {f"{POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    yield Resource("v1", "Namespace", NAME, at, labels=modes, annotations={SYNC_WAVE: "-3"})
    fields: dict[str, Any] = {"value": priority(cluster), "description": "Every run goes before the test of idle nodes"}
    yield Resource(KUEUE, "WorkloadPriorityClass", NAME, at, fields=fields)
    yield Resource(KUEUE, "ClusterQueue", NAME, at, fields={"spec": queue(cluster, said, pools)})
    yield Resource(KUEUE, "LocalQueue", NAME, at, NAME, fields={"spec": {"clusterQueue": NAME}})
    closed = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    yield Resource("networking.k8s.io/v1", "NetworkPolicy", NAME, at, NAME, fields={"spec": closed})
    data = {file: program_text(name) for file, name in PROGRAMS.items()}
    yield Resource("v1", "ConfigMap", NAME, at, NAME, fields={"data": data})
    for pool in pools:
        yield Resource("batch/v1", "CronJob", pool, at, NAME, fields={"spec": cron_job(cluster, said, pool)})
    yield from burn_in_marker.resources(cluster)


def queue(cluster: Cluster, said: BurnIn, pools: list[str]) -> dict[str, Any]:
    """Return the ClusterQueue: it has nothing, borrows what nobody uses, and preempts nobody."""
    names = covered_resources(cluster, pools)
    nothing = [{"name": name, "nominalQuota": "0"} for name in names]
    return {
        "cohortName": said.cohort,
        "namespaceSelector": {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": [NAME]}]},
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"},
        "fairSharing": {"weight": 0} if shares_fairly(cluster) else None,
        "resourceGroups": [
            {"coveredResources": list(names), "flavors": [{"name": pool, "resources": nothing} for pool in pools]}
        ],
    }


def cron_job(cluster: Cluster, said: BurnIn, pool: str) -> dict[str, Any]:
    """Return the CronJob of a pool; a Job that still runs or waits is replaced, so that there is one at most."""
    return {
        "schedule": said.schedule,
        "timeZone": said.time_zone,
        "concurrencyPolicy": "Replace",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "metadata": {
                "labels": {QUEUE: NAME, PRIORITY: NAME},
                "annotations": {FEWEST: "1", EQUAL: "true"},
            },
            "spec": job(cluster, said, pool),
        },
    }


def job(cluster: Cluster, said: BurnIn, pool: str) -> dict[str, Any]:
    """Return the Job: an index for each node, none of which is tried again, and none of which ends the others."""
    nodes = cluster.pools[pool].nodes
    topology = {"metadata": {"annotations": {ANYWHERE: "true"}}} if cluster.levels_of(pool) else {}
    return {
        "suspend": True,
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimitPerIndex": 0,
        "activeDeadlineSeconds": 60 * (said.minutes + START),
        "ttlSecondsAfterFinished": KEPT,
        "template": {**topology, "spec": drop_empty(pod(cluster, said, pool))},
    }


def pod(cluster: Cluster, said: BurnIn, pool: str) -> dict[str, Any]:
    """Return the pod of a node, which ends within seconds where a run preempts it.

    Without a limit of CPUs it is not Guaranteed, so that the kubelet aligns its GPUs alone. It takes the nodes that
    runs may take, and those that failed it before: one with the taint of another fault is not tested.
    """
    (resource, count), *_ = gpus.per_node(cluster.pools[pool]).items()
    number = int(count)
    requests = {"cpu": str(CPUS * number), "memory": f"{MEMORY * number}Gi", resource: str(number)}
    limits = {"memory": requests["memory"], resource: str(number)}
    sums = [f"--nodes=1 --node=0 --gpus={number}", "--leader=localhost --port=29400 --floor=1 --limit=300 --wait=300"]
    words = [word for line in sums for word in line.split()]
    own = [f"{FOLDER}/burn_in.py", f"--gpus={number}", f"--minutes={said.minutes}", "--name=$(NODE_NAME)"]
    container = {
        "name": NAME,
        "image": said.image,
        "command": ["python3", "-B", f"{FOLDER}/check.py", *words, "--name=$(NODE_NAME)", "--", "python3", "-B", *own],
        "env": [
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "HOME", "value": "/tmp"},  # noqa: S108 - a volume of its own
            {"name": "NCCL_IB_DISABLE", "value": "1"},
        ],
        "resources": {"requests": requests, "limits": limits},
        "securityContext": unprivileged.container(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "programs", "mountPath": FOLDER, "readOnly": True},
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - the shared memory itself
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108
        ],
    }
    memory = {"medium": "Memory", "sizeLimit": f"{SHARED * number}Gi"}
    return {
        "automountServiceAccountToken": False,
        "containers": [container],
        "nodeSelector": cluster.selector_of(pool),
        "restartPolicy": "Never",
        "securityContext": unprivileged.pod(),
        "terminationGracePeriodSeconds": 5,
        "tolerations": [*tolerations([cluster.pools[pool]]), *failed_before(cluster)],
        "volumes": [
            {"name": "programs", "configMap": {"name": NAME}},
            {"name": "shared-memory", "emptyDir": memory},
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    }


def failed_before(cluster: Cluster) -> list[dict[str, str]]:
    """Return the toleration by which a repaired node is tested, so that its mark can go."""
    return [{"key": taint_key(FAILED), "operator": "Exists"}] if marks(cluster) else []
