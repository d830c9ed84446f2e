"""A running kube-scheduler, asked by making nodes and pods for real: only for a cluster to throw away.

Nothing else may change its nodes or pods, and it has no other nodes: a control plane of etcd, kube-apiserver and
kube-scheduler will do. Each case gets nodes of its own, and is deleted when it is answered.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduler.worlds import CHANNEL, NAMESPACES, OVERHEAD, TAINTS, Object
from trainyard.faces.live.server import Server
from trainyard.upstream.scheduler import Wanted

SECONDS = 20
"""What the scheduler may take to decide on a pod, or to see the nodes of a case."""

QUIET = 1.6
"""Seconds without a decision after which pods that found no node are not being tried again: longer than it waits."""

SOON = 0.06
"""Seconds in which those are tried again that may be near a pod which found a node, before the next one comes."""

CLASS = "channels.example.com"
DEVICES = "/apis/resource.k8s.io/v1"
FAILED = re.compile(r"0/(\d+) nodes are available: (.*?)\.(?:$| )")
COUNTED = re.compile(r"(\d+) (.*)")
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
GATED = "Scheduling is blocked due to non-empty scheduling gates"


class Scheduler:
    """Asks one cluster about cases, one after the other."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect, delete what an interrupted run left, and make what all cases have in common."""
        self.server = Server(kubeconfig=kubeconfig)
        self.run = f"r{int(time.time() * 1000)}"
        self.asked = 0
        for name, labels in NAMESPACES.items():
            own = {key: value for key, value in labels.items() if "/" not in key}
            self._send("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": own}})
            self._send("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
            self.delete(f"/api/v1/namespaces/{name}/pods")
        self.delete("/api/v1/nodes")
        heavy = {"metadata": {"name": "heavy"}, "handler": "heavy", "overhead": {"podFixed": OVERHEAD}}
        self._send("POST", "/apis/node.k8s.io/v1/runtimeclasses", heavy)
        chosen = {"selectors": [{"cel": {"expression": f'device.driver == "{CLASS}"'}}]}
        self._send("POST", f"{DEVICES}/deviceclasses", {"metadata": {"name": CLASS}, "spec": chosen})

    def release(self) -> str:
        """Return the release of the cluster, whose scheduler is of the same."""
        version = self.must("GET", "/version", None)["gitVersion"]
        assert isinstance(version, str)
        return version.removeprefix("v")

    def answer(self, case: Object) -> list[Object]:
        """Return what becomes of the pods: each event is the number of one with its node, or with what is against it.

        Pods are created one after the other, each when the one before is decided on. Those that were tried again stand
        behind the pod that helped them, in any order.
        """
        self.asked += 1
        prefix = f"{self.run}-{self.asked}-"
        own = self.renamed(case, prefix)
        try:
            for node in own["nodes"]:
                self.node(node, prefix)
            self._seen(prefix, len(own["nodes"]))
            events = list(self._decided(prefix, own["pods"]))
        finally:
            self._clean(prefix, own)
        found: list[Object] = json.loads(json.dumps(events).replace(f'"{prefix}node-', '"node-'))
        return found

    def renamed(self, case: Object, prefix: str) -> Object:
        """Return a case whose nodes have names that none had before."""
        found: Object = json.loads(json.dumps(case).replace('"node-', f'"{prefix}node-'))
        return found

    def node(self, node: Mapping[str, Any], prefix: str) -> None:
        """Make a node of a case."""
        name, offered = node["name"], node["allocatable"]
        value = {
            "metadata": {"name": name, "labels": {**node["labels"], "case": prefix + "case"}},
            "status": {"allocatable": offered, "capacity": offered, "conditions": [READY]}
            | ({"declaredFeatures": node["declares"]} if node.get("declares") else {}),
        }
        self.must("POST", "/api/v1/nodes", value)
        self.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": node["taints"]}})
        if CHANNEL in node:
            devices = [{"name": f"channel-{index}"} for index in range(node[CHANNEL])]
            pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
            spec = {"driver": CLASS, "nodeName": name, "pool": pool, "devices": devices}
            self.must("POST", f"{DEVICES}/resourceslices", {"metadata": {"name": name}, "spec": spec})

    def _seen(self, prefix: str, count: int) -> None:
        """Wait until the scheduler sees the nodes of this case alone, and their taints."""
        requirement = {"key": "case", "operator": "In", "values": [prefix + "case"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
        spec = {
            "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1000000"}}}],
            "tolerations": [{"key": taint["key"], "operator": "Exists"} for taint in TAINTS],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        }
        end = time.monotonic() + SECONDS
        while True:
            name = f"{prefix}probe-{time.monotonic_ns()}"
            pod = {"namespace": "alpha", "labels": {}, "spec": spec}
            self._create(name, pod)
            found = self._outcome(name, pod)
            self.delete(f"/api/v1/namespaces/alpha/pods/{name}")
            if found["against"] == {"Insufficient cpu": count}:
                return
            assert time.monotonic() < end, f"the scheduler does not see the nodes: {found}"

    def _decided(self, prefix: str, pods: Sequence[Mapping[str, Any]]) -> Iterator[Object]:
        waiting: list[int] = []
        for index, pod in enumerate(pods):
            name = f"{prefix}{index}"
            self._create(name, pod)
            event = {"pod": index, **self._outcome(name, pod)}
            yield event
            if "node" in event:
                yield from self._again(prefix, pods, waiting, SOON)
            elif Wanted(pod["spec"]).near_others:
                waiting.append(index)
        yield from self._again(prefix, pods, waiting, QUIET)

    def _again(
        self, prefix: str, pods: Sequence[Mapping[str, Any]], waiting: list[int], seconds: float
    ) -> Iterator[Object]:
        """Yield the pods that found no node and have one now, in any order, until none had one for some seconds."""
        quiet = time.monotonic() + seconds
        while waiting and time.monotonic() < quiet:
            for index in [*waiting]:
                if node := self._get(f"{prefix}{index}", pods[index])["spec"].get("nodeName"):
                    waiting.remove(index)
                    quiet = time.monotonic() + seconds
                    yield {"pod": index, "node": node, "again": True}
            time.sleep(seconds / 10)

    def _create(self, name: str, pod: Mapping[str, Any]) -> None:
        namespace, spec = pod["namespace"], dict(pod["spec"])
        if pod.get("takes"):
            requests = [{"name": CHANNEL, "exactly": {"deviceClassName": CLASS}}]
            claim = {"metadata": {"name": name}, "spec": {"devices": {"requests": requests}}}
            self.must("POST", f"{DEVICES}/namespaces/{namespace}/resourceclaims", claim)
            spec["resourceClaims"] = [{"name": CHANNEL, "resourceClaimName": name}]
        value = {"metadata": {"name": name, "labels": pod["labels"]}, "spec": spec}
        self.must("POST", f"/api/v1/namespaces/{namespace}/pods", value)

    def _outcome(self, name: str, pod: Mapping[str, Any]) -> Object:
        """Return what the scheduler decides first."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            value = self._get(name, pod)
            if node := value["spec"].get("nodeName"):
                return {"node": node}
            for condition in value["status"].get("conditions") or ():
                if condition["type"] == "PodScheduled" and condition["status"] == "False":
                    return {"against": reasons(condition["message"])}
            time.sleep(0.003)
        raise TimeoutError(f"the scheduler does not decide on {name}")

    def _get(self, name: str, pod: Mapping[str, Any]) -> Object:
        return self.must("GET", f"/api/v1/namespaces/{pod['namespace']}/pods/{name}", None)

    def _clean(self, prefix: str, case: Object) -> None:
        for index, pod in enumerate(case["pods"]):
            self.delete(f"/api/v1/namespaces/{pod['namespace']}/pods/{prefix}{index}")
        for index, pod in enumerate(case["pods"]):
            if pod.get("takes"):
                claim = f"{DEVICES}/namespaces/{pod['namespace']}/resourceclaims/{prefix}{index}"
                self._send("PATCH", claim, {"metadata": {"finalizers": None}})
                self.delete(claim)
        for node in case["nodes"]:
            self.delete(f"/api/v1/nodes/{node['name']}")
            if CHANNEL in node:
                self.delete(f"{DEVICES}/resourceslices/{node['name']}")

    def delete(self, path: str) -> None:
        """Delete what is there, at once."""
        self.server.request("DELETE", path, query=[("gracePeriodSeconds", "0")])

    def _send(self, method: str, path: str, body: Object | None) -> tuple[Any, Object]:
        kind = "application/merge-patch+json" if method == "PATCH" else None
        return self.server.request(method, path, body=body, media_type=kind)

    def must(self, method: str, path: str, body: Object | None) -> Object:
        """Return what the server answers to a request that it has to take."""
        said, value = self._send(method, path, body)
        assert said.accepted, f"{method} {path}: {said.message}"
        return value


def reasons(message: str) -> dict[str, int]:
    """Return what speaks against how many nodes; where it is one thing about the pod, against all."""
    if message == GATED:
        return {GATED: 0}
    found = FAILED.match(message)
    if found is None:
        return {message: 0}
    total, said = int(found[1]), found[2]
    parts = [COUNTED.fullmatch(part) for part in said.split(", ")]
    if not all(parts):
        return {said: total}
    return {part[2]: int(part[1]) for part in parts if part}
