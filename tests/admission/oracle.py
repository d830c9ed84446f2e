"""A running cluster, asked by giving it the nodes, the queues and the runs of a tree: only for one to throw away.

In it run kube-scheduler and the other controllers of Kubernetes, KWOK, Kueue and the operators of jobs. It has no nodes
of its own. Each tree is deleted when it is answered.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kueue.question import manifests
from trainyard.base.labels import JOB
from trainyard.faces.live.server import Server, write_query
from trainyard.judge.admission.inventory import channel
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.site import Site
from trainyard.render.sizing import nvlink
from trainyard.upstream.kubelet.kubelet import WELL_KNOWN

SECONDS = 90
"""What the cluster may take to do as it is told."""

QUIET = 6.0
"""Seconds without any change after which nothing moves any more."""

DRIVER = "compute-domain.nvidia.com"

Object = dict[str, Any]


class Oracle:
    """One cluster, which answers for one tree after the other."""

    def __init__(self, kubeconfig: Path) -> None:
        self.server = Server(kubeconfig=kubeconfig)
        self.served: dict[str, dict[str, Object]] = {}
        self.made: list[Object] = []
        self.runs = 0
        """How many of these are there before the first run."""

    def answer(self, folder: Path, where: Site, bids: Sequence[Bidder]) -> Object:
        """Return what becomes of each of these jobs when all are there: its Workloads, and its pods.

        Jobs arrive in their order, each a second after the one before, which is as exactly as a cluster tells time.
        """
        try:
            there, last = apart(around(folder))
            for one_machine in [*machines(where), *there]:
                self._make(one_machine)
            self._until("all nodes are ready", self._ready)
            self.runs = len(self.made)
            for bid in bids:
                self._arrive(folder, bid)
            for item in last:
                self._make(item)
            self._quiet()
            return {bid.name: self._found(bid) for bid in bids}
        finally:
            self._clean()

    def _arrive(self, folder: Path, bid: Bidder) -> None:
        """Make the objects of a run, and wait until its Workloads are there and the next ones will be younger."""
        for item in of_run(folder, bid):
            self._make(item)
        self._until(f"{bid.name} has its Workloads", lambda: len(self._workloads(bid)) == len(bid.keys))
        time.sleep(1.02 - time.time() % 1)

    def _make(self, value: Object) -> None:
        """Create an object in place of the one that is there, unless its kind is not served here."""
        if value["kind"] not in self._kinds(value["apiVersion"]):
            return
        path, name = self._path(value), value["metadata"]["name"]
        end = time.monotonic() + SECONDS
        while True:
            if value["kind"] == "Namespace":
                query = [*write_query(dry_run=False), ("force", "true")]
                said, _ = self.server.request("PATCH", f"{path}/{name}", query=query, body=value)
            else:
                said, _ = self.server.request("POST", path, query=write_query(dry_run=False), body=value)
            if said.accepted:
                self.made.append(value)
                return
            assert said.code != 422, f"{value['kind']} {name}: {said.message}"
            assert time.monotonic() < end, f"not in time: {value['kind']} {name}: {said.message}"
            if said.code == 409:
                self._gone(self._delete([value]))
            time.sleep(0.5)

    def _kinds(self, version: str) -> Mapping[str, Object]:
        if version not in self.served:
            said, body = self.server.request("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            found = body["resources"] if said.accepted else []
            self.served[version] = {item["kind"]: item for item in found if "/" not in item["name"]}
        return self.served[version]

    def _path(self, value: Object, name: str = "") -> str:
        version = value["apiVersion"]
        kind = self._kinds(version)[value["kind"]]
        top = f"/apis/{version}" if "/" in version else f"/api/{version}"
        space = f"/namespaces/{value['metadata']['namespace']}" if kind["namespaced"] else ""
        return f"{top}{space}/{kind['name']}" + (f"/{name}" if name else "")

    def _get(self, path: str) -> Object | None:
        said, body = self.server.request("GET", path)
        return body if said.accepted else None

    def _listed(self, path: str) -> list[Object]:
        found = self._get(path)
        assert found is not None, path
        items: list[Object] = found["items"]
        return items

    def _workloads(self, bid: Bidder) -> list[Object]:
        """Return the Workloads of a job by their names, which end in a digest that nobody knows before."""
        names = {owner["metadata"]["name"] for owner in bid.owners}
        there = self._listed(f"/apis/kueue.x-k8s.io/v1beta1/namespaces/{namespace_of(bid)}/workloads")
        mine = [item for item in there if names & {one["name"] for one in item["metadata"].get("ownerReferences", ())}]
        return sorted(mine, key=lambda item: str(item["metadata"]["name"]))

    def _ready(self) -> bool:
        nodes = self._listed("/api/v1/nodes")
        claims = self._listed("/api/v1/persistentvolumeclaims")
        pods = self._listed("/api/v1/namespaces/kube-system/pods")
        return (
            all(not any("not-ready" in one["key"] for one in node["spec"].get("taints", ())) for node in nodes)
            and all(claim["status"]["phase"] == "Bound" for claim in claims)
            and all(pod["status"]["phase"] == "Running" for pod in pods)
        )

    def _quiet(self) -> None:
        """Wait until nothing has moved for a while."""
        seen, since = "", time.monotonic()
        end = since + SECONDS
        while time.monotonic() - since < QUIET:
            assert time.monotonic() < end, "the cluster does not come to rest"
            time.sleep(0.5)
            now = json.dumps([self._listed("/apis/kueue.x-k8s.io/v1beta2/workloads"), self._listed("/api/v1/pods")])
            if now != seen:
                seen, since = now, time.monotonic()

    def _found(self, bid: Bidder) -> Object:
        there = self._listed(f"/api/v1/namespaces/{namespace_of(bid)}/pods?labelSelector={JOB}%3D{name_of(bid)}")
        pods = sorted((item["metadata"]["name"], item["spec"].get("nodeName") or "") for item in there)
        return {"workloads": [*map(decided, self._workloads(bid))], "pods": dict(pods)}

    def _until(self, what: str, holds: Callable[[], object]) -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end, f"not in time: {what}"
            time.sleep(0.1)

    def _clean(self) -> None:
        """Delete what was made: runs with their pods, then the rest; Namespaces stay, which take long to go."""
        mark = self.runs
        self._delete(self.made[mark:])
        self._until("no Workload is left", lambda: not self._listed("/apis/kueue.x-k8s.io/v1beta2/workloads"))
        self._until("no pod of a run is left", lambda: not self._delete(self._pods()))
        self._gone(self._delete([item for item in self.made[:mark] if item["kind"] != "Namespace"]))
        self.made.clear()

    def _pods(self) -> list[Object]:
        """Return the pods of runs."""
        there = self._listed("/api/v1/pods")
        return [{"apiVersion": "v1", "kind": "Pod", **item} for item in there if namespace(item) != "kube-system"]

    def _delete(self, values: Sequence[Object]) -> list[str]:
        """Delete objects, the last first, and return their paths."""
        query = [("propagationPolicy", "Background"), ("gracePeriodSeconds", "0")]
        paths = [self._path(value, value["metadata"]["name"]) for value in reversed(values)]
        for path in paths:
            self.server.request("DELETE", path, query=query)
        return paths

    def _gone(self, paths: Sequence[str]) -> None:
        self._until("what was made is gone", lambda: not any(map(self._get, paths)))


def namespace(value: Object) -> str:
    """Return the namespace of an object."""
    return str(value["metadata"]["namespace"])


def decided(value: Object) -> Object:
    """Return what became of a Workload."""
    status = value.get("status") or {}
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    true = {name for name, condition in conditions.items() if condition["status"] == "True"}
    evicted = (status.get("schedulingStats") or {}).get("evictions", ())
    lost = [item["reason"] for item in evicted for _ in range(item["count"])]
    return {
        "outcome": next((word for word in ("Admitted", "QuotaReserved") if word in true), "Pending"),
        "podSets": [
            assigned(pod_set_assignment)
            for pod_set_assignment in (status.get("admission") or {}).get("podSetAssignments", ())
        ],
        "evictions": sorted(lost),
        "message": conditions.get("QuotaReserved", {}).get("message", ""),
    }


def assigned(value: Object) -> Object:
    """Return what a pod set got."""
    topology = {"topology": value["topologyAssignment"]} if "topologyAssignment" in value else {}
    return {"name": value["name"], "count": value["count"], "flavors": value.get("flavors") or {}, **topology}


def machines(where: Site) -> Iterator[Object]:
    """Yield the nodes of a cluster and what runs on them, and what claims of their drivers are for."""
    if any(nvlink.per_node(where.cluster, pool) for pool in where.cluster.pools.values()):
        chosen = {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}
        api = {"apiVersion": "resource.k8s.io/v1"}
        yield {**api, "kind": "DeviceClass", "metadata": {"name": nvlink.CLASS}, "spec": chosen}
    for item in where.objects:
        if item["kind"] == "Node":
            yield from machine(where, item)
    yield from (dict(item) for item in where.objects if item["kind"] == "Pod")


def machine(where: Site, node: Mapping[str, Any]) -> Iterator[Object]:
    """Yield a node, with the channels of its NVLink domain."""
    name = node["metadata"]["name"]
    labels = {**WELL_KNOWN, **node["metadata"]["labels"]}
    offered = node["status"]["allocatable"]
    status = {"allocatable": offered, "capacity": offered}
    yield {**node, "metadata": {"name": name, "labels": labels}, "status": status}
    count = sum(map(int, nvlink.per_node(where.cluster, where.cluster.pools[where.pool_of(name)]).values()))
    if count:
        devices = [{"name": f"channel-{index}"} for index in range(count)]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
        api = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice"}
        yield {**api, "metadata": {"name": name}, "spec": spec}


def around(folder: Path) -> Iterator[Object]:
    """Yield what runs find on a cluster: what the tree has for platform and teams, and the volumes of its claims."""
    there = [one for part in ("platform", "teams") for one in of_folder(folder, folder / part)]
    ranks = {"Namespace": 0, "StorageClass": 1}
    for item in sorted(there, key=lambda one: ranks.get(one["kind"], 2)):
        if item["kind"] == "PersistentVolumeClaim":
            yield volume(item)
        yield item


def apart(objects: Iterator[Object]) -> tuple[list[Object], list[Object]]:
    """Return objects, and apart those without which no queue takes a job; the last of these opens all at once.

    Topologies where there are, which all flavors have; else flavors, the one last that most queues have.
    """
    there = list(objects)
    kind = next((name for name in ("Topology", "ResourceFlavor") if any(one["kind"] == name for one in there)), "")
    queues = [one["spec"]["resourceGroups"] for one in there if one["kind"] == "ClusterQueue"]
    wide = Counter(flavor["name"] for groups in queues for group in groups for flavor in group["flavors"])
    last = sorted((one for one in there if one["kind"] == kind), key=lambda one: wide[one["metadata"]["name"]])
    return [one for one in there if one["kind"] != kind], last


def volume(claim: Object) -> Object:
    """Return a volume that a claim is bound to."""
    metadata, asked = claim["metadata"], claim["spec"]
    name = f"{metadata['namespace']}-{metadata['name']}"
    spec = {
        "capacity": asked["resources"]["requests"],
        "accessModes": asked["accessModes"],
        "storageClassName": asked.get("storageClassName", ""),
        "volumeMode": asked.get("volumeMode", "Filesystem"),
        "claimRef": {"namespace": metadata["namespace"], "name": metadata["name"]},
        "hostPath": {"path": "/nowhere"},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def of_run(folder: Path, bid: Bidder) -> Iterator[Object]:
    """Yield the objects of a run as its tree has them, those that start last; what drivers make of them among them."""
    owners = {(owner["kind"], owner["metadata"]["name"]) for owner in bid.owners}
    run = next(name for _, name in owners)
    there = of_folder(folder, folder / "runs" / bid.name.partition("/")[0] / run)
    for item in sorted(there, key=lambda one: (one["kind"], one["metadata"]["name"]) in owners):
        yield channel(item) if item["kind"] == "ComputeDomain" else item


def of_folder(root: Path, folder: Path) -> list[Object]:
    """Return the objects below a folder of a tree."""
    return [manifest for path in sorted(folder.glob("**/*.yaml")) for manifest in manifests(root, path)]


def namespace_of(bid: Bidder) -> str:
    """Return the namespace of a job."""
    return str(next(iter(bid.owners))["metadata"]["namespace"])


def name_of(bid: Bidder) -> str:
    """Return the name of a job in its namespace."""
    return bid.name.partition("/")[2]
