"""A running Volcano, asked by making nodes, queues and jobs for real: only for a cluster to throw away.

Nothing else may change its nodes, and it has no other nodes and jobs of Volcano's: a control plane with Volcano's
scheduler, controllers and webhooks will do. The scheduler is configured as its chart does; it answers sooner with
`--schedule-period=200ms`. Each case gets nodes and a queue of its own, and is deleted when it is answered.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from scheduler.oracle import Scheduler
from scheduler.worlds import NAMESPACES, Object

JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/{}/jobs"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"

OWN = ("default", "root")
"""Queues that Volcano makes itself."""

SECONDS = 20
"""What Volcano may take to make a queue, a group of pods, or its pods."""

QUIET = 1.5
"""Seconds without a change after which nothing changes any more: several of the scheduler's sessions."""


class Volcano:
    """Asks one cluster about cases, one after the other."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect, delete what an interrupted run left, and make what all cases have in common."""
        self.scheduler = Scheduler(kubeconfig)
        for namespace in NAMESPACES:
            self._delete(JOBS.format(namespace))
        for item in self.scheduler.must("GET", QUEUES, None)["items"]:
            if (name := item["metadata"]["name"]) not in OWN:
                self._delete(f"{QUEUES}/{name}")

    def answer(self, case: Object) -> Object:
        """Return what becomes of the job: how many pods of each task have a node, and what the queue has against it.

        `enqueued` says whether its pods were made at all.
        """
        asked = self.scheduler
        asked.asked += 1
        prefix = f"{asked.run}-{asked.asked}-"
        own = asked.renamed(case, prefix)
        queues = [f"{prefix}own", *(f"{prefix}other-{number}" for number in range(len(case["others"])))]
        try:
            for node in own["nodes"]:
                asked.node(node, prefix)
            self._hold(own)
            for name, spec in zip(queues, [case["queue"], *case["others"]], strict=True):
                self._queue(name, spec)
            asked.must("POST", JOBS.format(case["namespace"]), job(f"{prefix}job", queues[0], own))
            return self._settled(f"{prefix}job", own)
        finally:
            self._delete(f"{JOBS.format(case['namespace'])}/{prefix}job")
            self._gone(f"{prefix}job", own)
            for name in queues:
                self._delete(f"{QUEUES}/{name}")
            for node in own["nodes"]:
                self._delete(f"/api/v1/namespaces/beta/pods/daemons-{node['name']}")
                self._delete(f"/api/v1/nodes/{node['name']}")

    def _hold(self, case: Object) -> None:
        """Put a pod on each node that holds something, as daemons do."""
        for node in (one_node for one_node in case["nodes"] if "held" in one_node):
            container = {"name": "all", "image": "x", "resources": {"requests": node["held"]}}
            spec = {"nodeName": node["name"], "containers": [container], "tolerations": [{"operator": "Exists"}]}
            value = {"metadata": {"name": f"daemons-{node['name']}"}, "spec": spec}
            self.scheduler.must("POST", "/api/v1/namespaces/beta/pods", value)

    def _queue(self, name: str, spec: Object) -> None:
        value = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
        self.scheduler.must("POST", QUEUES, {**value, "spec": spec})
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self.scheduler.must("GET", f"{QUEUES}/{name}", None).get("status", {}).get("state") == "Open":
                return
            time.sleep(0.05)
        raise TimeoutError(f"queue {name} is not opened")

    def _settled(self, name: str, case: Object) -> Object:
        """Return what becomes of a job when nothing changes any more."""
        begun = seen = time.monotonic()
        last: Object = {}
        while time.monotonic() - seen < QUIET:
            found = self._state(name, case)
            if found != last:
                last, seen = found, time.monotonic()
            waits = found["enqueued"] and found["made"] < sum(task["replicas"] for task in case["tasks"])
            if sum(found["bound"].values()) == sum(task["replicas"] for task in case["tasks"]):
                break
            if "phase" not in found or waits:
                assert time.monotonic() - begun < SECONDS, f"Volcano makes no pods of {name}: {found}"
                seen = time.monotonic()
            time.sleep(0.1)
        return {key: last[key] for key in ("enqueued", "bound")}

    def _state(self, name: str, case: Object) -> Object:
        pods = self._pods(name, case)
        bound = Counter(task_of(pod) for pod in pods if pod["spec"].get("nodeName"))
        groups = self.scheduler.must("GET", GROUPS.format(case["namespace"]), None)["items"]
        phases = [
            group.get("status", {}).get("phase") for group in groups if group["metadata"]["name"].startswith(name)
        ]
        phase = {"phase": phases[0]} if phases and phases[0] else {}
        bound_of = {task["name"]: bound[task["name"]] for task in case["tasks"]}
        return {**phase, "enqueued": phase.get("phase", "Pending") != "Pending", "made": len(pods), "bound": bound_of}

    def _pods(self, name: str, case: Object) -> list[Object]:
        path = f"/api/v1/namespaces/{case['namespace']}/pods"
        every: list[Object] = self.scheduler.must("GET", path, None)["items"]
        return [item for item in every if item["metadata"]["name"].startswith(f"{name}-")]

    def _gone(self, name: str, case: Object) -> None:
        end = time.monotonic() + SECONDS
        while pods := self._pods(name, case):
            for pod in pods:
                self._delete(f"/api/v1/namespaces/{case['namespace']}/pods/{pod['metadata']['name']}")
            assert time.monotonic() < end, f"pods of {name} do not end"
            time.sleep(0.05)

    def _delete(self, path: str) -> None:
        self.scheduler.delete(path)


def task_of(pod: Object) -> str:
    """Return the task of a pod."""
    return str(pod["metadata"]["annotations"]["volcano.sh/task-spec"])


def job(name: str, queue: str, case: Object) -> Object:
    """Return the job of a case."""
    tasks = [
        {
            "name": task["name"],
            "replicas": task["replicas"],
            "minAvailable": task["minAvailable"],
            "template": {"metadata": {"labels": task["labels"]}, "spec": {**task["spec"], "restartPolicy": "Never"}},
        }
        for task in case["tasks"]
    ]
    spec = {"schedulerName": "volcano", "queue": queue, "minAvailable": case["minAvailable"], "tasks": tasks}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
