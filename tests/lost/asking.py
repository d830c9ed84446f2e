"""A running cluster, asked what becomes of runs whose nodes are lost: only for one to throw away.

In it run Kubernetes' controllers, Kueue configured as the rendered clusters have it, the operators of all kinds, and
KWOK, which ends pods as a kubelet does and leaves nodes alone that have the label SILENT. All cases run side by side,
each on nodes of its own in a zone of its own: the node lifecycle controller looks at each zone by itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from admission.oracle import of_folder
from lost.cases import FAULTS, TEAM_NAME, Case
from trainyard.base.labels import JOB
from trainyard.faces.live.server import Server, write_query
from trainyard.judge.admission.inventory import nodes
from trainyard.render.sizing.health import taint_key
from trainyard.specs import Cluster

SILENT = "oracle.trainyard.dev/silent"
ZONE = "topology.kubernetes.io/zone"
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
MERGE = "application/merge-patch+json"
OWNERS = (
    ("/apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    ("/apis/batch/v1", "jobs"),
    ("/apis/trainer.kubeflow.org/v1alpha1", "trainjobs"),
    ("/apis/kubeflow.org/v1", "pytorchjobs"),
    ("/apis/kubeflow.org/v1", "xgboostjobs"),
    ("/apis/kubeflow.org/v2beta1", "mpijobs"),
    ("/apis/ray.io/v1", "rayjobs"),
    ("/apis/ray.io/v1", "rayclusters"),
    ("/apis/batch.volcano.sh/v1alpha1", "jobs"),
    ("/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
)
INDEXES = (
    "batch.kubernetes.io/job-completion-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "volcano.sh/task-index",
)
"""Labels with a pod's rank."""

WAIT = 60
"""Seconds between a node's word that it is lost and the person who sets the taint out-of-service."""

Object = dict[str, Any]


@dataclass
class Watched:
    """One case, and what was seen of it."""

    case: Case
    begun: float = 0.0
    lost: list[str] = field(default_factory=list)
    pods: dict[str, Object] = field(default_factory=dict)
    """Pods before the fault, by uid."""
    seen: dict[str, str] = field(default_factory=dict)
    events: list[tuple[int, str]] = field(default_factory=list)
    choices: dict[str, int] = field(default_factory=dict)
    """Topologies that Kueue chose, each with its number."""
    shut: bool = False
    failed: float = 0.0
    now: list[Object] = field(default_factory=list)
    """Its pods, as last seen."""
    nodes: Mapping[str, Object] = field(default_factory=dict)
    """All nodes, as last seen."""

    def say(self, key: str, value: str) -> None:
        """Write down what changed, with the seconds since the fault."""
        if self.seen.get(key) != value:
            self.seen[key] = value
            self.events.append((round(time.monotonic() - self.begun) if self.begun else -1, f"{key}: {value}"))


class Asked:
    """One cluster, and all cases in it."""

    def __init__(self, kubeconfig: Path) -> None:
        self.server = Server(kubeconfig=kubeconfig)
        self.served: dict[str, dict[str, Object]] = {}

    def apply(self, value: Mapping[str, Any]) -> None:
        """Apply an object; raise what the server says."""
        version, kind = value["apiVersion"], value["kind"]
        if version not in self.served:
            said, body = self.server.request("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            there = body["resources"] if said.accepted else ()
            self.served[version] = {item["kind"]: item for item in there if "/" not in item["name"]}
        if kind not in self.served[version]:
            return
        resource = self.served[version][kind]
        top = f"/apis/{version}" if "/" in version else f"/api/{version}"
        space = f"/namespaces/{value['metadata']['namespace']}" if resource["namespaced"] else ""
        path = f"{top}{space}/{resource['name']}/{value['metadata']['name']}"
        query = [*write_query(dry_run=False), ("force", "true")]
        end = time.monotonic() + 60
        while True:
            said, _ = self.server.request("PATCH", path, query=query, body=value)
            if said.accepted:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"{kind} {value['metadata']['name']}: {said.code} {said.message}")
            time.sleep(1)

    def listed(self, path: str) -> list[Object]:
        """Return the objects of a collection."""
        said, body = self.server.request("GET", path)
        return list(body["items"]) if said.accepted else []

    def change_node(self, name: str, body: Object) -> None:
        """Change fields of a node."""
        said, _ = self.server.request("PATCH", f"/api/v1/nodes/{name}", body=body, media_type=MERGE)
        if not said.accepted:
            raise RuntimeError(f"node {name}: {said.message}")

    def add_node(self, cluster: Cluster, pool: str) -> None:
        """Make the nodes of a pool, in a zone of their own."""
        for item in nodes(cluster):
            if item["kind"] == "Node" and item["metadata"]["name"].rpartition("-")[0] == pool:
                self.make_node(item, pool)

    def make_node(self, item: Object, zone: str) -> None:
        """Make one node."""
        labels = {**item["metadata"]["labels"], ZONE: zone, "kubernetes.io/os": "linux", "type": "kwok"}
        status = {**item["status"], "capacity": item["status"]["allocatable"]}
        value = {**item, "metadata": {"name": item["metadata"]["name"], "labels": labels}, "status": status}
        said, _ = self.server.request("POST", "/api/v1/nodes", query=write_query(dry_run=False), body=value)
        if not said.accepted:
            raise RuntimeError(f"node: {said.message}")

    def look(self, there: Mapping[str, Watched]) -> None:
        """Write down what changed since the last look."""
        node_list = {one["metadata"]["name"]: one for one in self.listed("/api/v1/nodes")}
        pods: dict[str, list[Object]] = {name: [] for name in there}
        for one in self.listed(f"/api/v1/namespaces/{TEAM_NAME}/pods"):
            name = one["metadata"]["labels"].get(JOB)
            if name in pods:
                pods[name].append(one)
        owned: dict[str, list[tuple[str, Object]]] = {name: [] for name in there}
        for top, plural in OWNERS:
            for one in self.listed(f"{top}/namespaces/{TEAM_NAME}/{plural}"):
                name = one["metadata"].get("labels", {}).get(JOB)
                if name in owned:
                    owned[name].append((plural, one))
        loads: dict[str, list[Object]] = {name: [] for name in there}
        for one in self.listed(f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{TEAM_NAME}/workloads"):
            owners = one["metadata"].get("ownerReferences", ())
            for name in there:
                if any(owner["name"].rpartition("-")[0] == name for owner in owners):
                    loads[name].append(one)
        for name, watched in there.items():
            note_nodes(watched, node_list)
            note_pods(watched, pods[name])
            note_workloads(watched, loads[name])
            note_owners(watched, owned[name])
            watched.now = pods[name]
            watched.nodes = node_list


def note_nodes(watched: Watched, there: Mapping[str, Object]) -> None:
    """Write down what became of the lost nodes."""
    for name in watched.lost:
        one = there.get(name)
        if one is None:
            watched.say(f"node {name[-3:]}", "no Node")
            continue
        ready = next((c["status"] for c in one["status"].get("conditions", ()) if c["type"] == "Ready"), "none")
        taints = sorted(f"{t['key'].rpartition('/')[2]}:{t['effect']}" for t in one["spec"].get("taints", ()))
        watched.say(f"node {name[-3:]}", f"Ready={ready} {' '.join(taints)}".strip())


def note_pods(watched: Watched, pods: list[Object]) -> None:
    """Write down each pod's phase and node; pods that are gone, too."""
    here = {}
    for one in pods:
        meta, status = one["metadata"], one.get("status", {})
        node = one["spec"].get("nodeName", "")[-3:]
        gates = " gated" if one["spec"].get("schedulingGates") else ""
        ends = " Terminating" if meta.get("deletionTimestamp") else ""
        conditions = [
            f" {c['type']}={c.get('reason')}"
            for c in status.get("conditions", ())
            if c["type"] in {"DisruptionTarget", "KueueFailureRecovery", "TerminatedByKueue"} and c["status"] == "True"
        ]
        key = f"pod {meta['name'].removeprefix(watched.case.name)} {meta['uid'][:4]}"
        here[key] = f"{status.get('phase')} on {node or 'no node'}{gates}{ends}{''.join(conditions)}"
    for key in watched.seen:
        if key.startswith("pod ") and key not in here:
            here[key] = "gone"
    for key, value in here.items():
        watched.say(key, value)


def note_workloads(watched: Watched, loads: list[Object]) -> None:
    """Write down Kueue's decisions."""
    for one in loads:
        status = one.get("status", {})
        conditions = {c["type"]: c for c in status.get("conditions", ())}
        words = [name for name in ("QuotaReserved", "Admitted", "PodsReady", "Finished") if true(conditions, name)]
        if true(conditions, "Evicted"):
            words.append(f"Evicted={conditions['Evicted']['reason']}")
        if lost := status.get("unhealthyNodes"):
            words.append("unhealthy=" + ",".join(item["name"][-3:] for item in lost))
        places = [
            item.get("topologyAssignment") for item in (status.get("admission") or {}).get("podSetAssignments", ())
        ]
        watched.say("workload", " ".join(words))
        choice = json.dumps([place for place in places if place])
        watched.say(
            "nodes", f"choice {watched.choices.setdefault(choice, len(watched.choices))}" if choice != "[]" else "none"
        )


def note_owners(watched: Watched, owned: list[tuple[str, Object]]) -> None:
    """Write down what the objects of a run say of themselves."""
    for plural, one in owned:
        status = one.get("status") or {}
        words = [c["type"] for c in status.get("conditions", ()) if c["status"] == "True"]
        names = (
            "restarts",
            "restartsCountTowardsMax",
            "failed",
            "active",
            "ready",
            "terminating",
            "jobDeploymentStatus",
            "retryCount",
        )
        counted = [f"{name}={status[name]}" for name in names if status.get(name)]
        suspended = (
            ["suspend"] if (one["spec"].get("suspend") or (one["spec"].get("runPolicy") or {}).get("suspend")) else []
        )
        if "phase" in status.get("state", {}):  # of a VolcanoJob
            words.append(status["state"]["phase"])
        watched.say(
            f"{plural} {one['metadata']['name'].removeprefix(watched.case.name)}",
            " ".join([*suspended, *counted, *words]),
        )


def true(conditions: Mapping[str, Object], name: str) -> bool:
    """Whether a condition is True."""
    return name in conditions and conditions[name]["status"] == "True"


def objects(folder: Path) -> Iterator[Object]:
    """Yield the objects of a rendered cluster, namespaces first and runs last."""
    ranks = {"Namespace": 0, "StorageClass": 1, "Topology": 2, "ResourceFlavor": 3}
    platform = [one for part in ("platform", "teams") for one in of_folder(folder, folder / part)]
    policies = {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
    yield from sorted(
        (one for one in platform if one["kind"] not in policies), key=lambda one: ranks.get(one["kind"], 4)
    )
    runs = of_folder(folder, folder / "runs")
    yield from sorted(runs, key=lambda one: one["kind"] != "ConfigMap")


def victims(watched: Watched, pods: list[Object]) -> list[str]:
    """Return the nodes that are lost: those of the last ranks; never that of a launcher, a head or rank 0."""
    placed = [one for one in pods if one["spec"].get("nodeName")]
    first = {one["spec"]["nodeName"] for one in placed if leads(one)}
    names = sorted({one["spec"]["nodeName"] for one in placed} - first)
    return names[-watched.case.lost :]


def leads(pod: Object) -> bool:
    """Whether a pod is rank 0, a Master, a launcher or a head."""
    labels = pod["metadata"]["labels"]
    roles = {labels.get(key) for key in ("training.kubeflow.org/job-role", "ray.io/node-type")}
    return bool(roles & {"master", "launcher", "head"}) or "0" in {labels.get(key) for key in INDEXES}


def strike(asked: Asked, watched: Watched) -> None:
    """Let the fault happen."""
    fault, key = watched.case.fault, taint_key("GpuFault")
    assert fault in FAULTS
    for name in watched.lost:
        if fault in {"silent", "shut-down"}:
            asked.change_node(name, {"metadata": {"labels": {SILENT: "true"}}})
        elif fault == "deleted":
            asked.server.request("DELETE", f"/api/v1/nodes/{name}")
        elif fault == "drained":
            asked.change_node(name, {"spec": {"unschedulable": True}})
            for pod in on_node(watched, name):
                evict(asked, pod)
        else:
            effect = "NoExecute" if fault == "no-execute" else "NoSchedule"
            asked.change_node(name, {"spec": {"taints": [{"key": key, "effect": effect}]}})
            if effect == "NoSchedule":
                watched.failed = time.monotonic() + 5


def on_node(watched: Watched, name: str) -> list[Object]:
    """Return the pods of the run on a node, as last seen."""
    return [pod for pod in watched.now if pod["spec"].get("nodeName") == name]


def evict(asked: Asked, pod: Object) -> None:
    """Evict a pod as kubectl drain does."""
    meta = {"name": pod["metadata"]["name"], "namespace": TEAM_NAME}
    path = f"/api/v1/namespaces/{TEAM_NAME}/pods/{meta['name']}/eviction"
    asked.server.request("POST", path, body={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta})


def fail(asked: Asked, pod: Object) -> None:
    """Have the containers of a pod end with 1: the pod fails, or where it restarts them, the container does."""
    never = pod["spec"]["restartPolicy"] == "Never"
    state = {"terminated": {"exitCode": 1, "reason": "Error"}} if never else {"running": {}}
    statuses = [
        {
            "name": one["name"],
            "image": one["image"],
            "imageID": "",
            "ready": not never,
            "restartCount": 0 if never else 1,
            "state": state,
        }
        for one in pod["spec"]["containers"]
    ]
    body = {"status": {**({"phase": "Failed"} if never else {}), "containerStatuses": statuses}}
    path = f"/api/v1/namespaces/{TEAM_NAME}/pods/{pod['metadata']['name']}/status"
    asked.server.request("PATCH", path, body=body, media_type=MERGE)


def follow(asked: Asked, watched: Watched) -> None:
    """Do what follows later: the program fails; a person says that a silent node is shut down."""
    if watched.failed and time.monotonic() > watched.failed:
        watched.failed = 0.0
        for name in watched.lost:
            for pod in on_node(watched, name):
                fail(asked, pod)
    if watched.case.fault != "shut-down" or watched.shut:
        return
    since = next((at for at, text in watched.events if text.startswith("node") and "Ready=Unknown" in text), None)
    if since is not None and time.monotonic() - watched.begun > since + WAIT:
        watched.shut = True
        for name in watched.lost:
            taints = watched.nodes[name]["spec"].get("taints", [])
            asked.change_node(name, {"spec": {"taints": [*taints, OUT_OF_SERVICE]}})


def repair(asked: Asked, watched: Watched, cluster: Cluster) -> None:
    """Bring the lost nodes back, healthy."""
    for name in watched.lost:
        if watched.case.fault == "deleted":
            item = next(one for one in nodes(cluster) if one["metadata"]["name"] == name and one["kind"] == "Node")
            asked.make_node(item, watched.case.name)
        else:
            there = watched.nodes[name]["spec"].get("taints", [])
            kept = [one for one in there if one["key"] not in {OUT_OF_SERVICE["key"], taint_key("GpuFault")}]
            asked.change_node(
                name, {"metadata": {"labels": {SILENT: None}}, "spec": {"unschedulable": None, "taints": kept}}
            )
