"""TFJob: tasks of a TensorFlow cluster, and the TF_CONFIG of each.

Facts: training-operator v1.9.4 pkg/controller.v1/tensorflow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from trainyard.faces.local.controllers.base import Object, add, namespace_of, variable
from trainyard.faces.local.controllers.replicas import CHIEF, MASTER, WORKER, Replicas


class TFJob(Replicas):
    """A TensorFlow cluster, each task told of all."""

    kind = "TFJob"
    field = "tfReplicaSpecs"
    container, port_name, port = "tensorflow", "tfjob-port", 2222
    restart = "Never"
    types = (CHIEF, MASTER, "PS", WORKER, "Evaluator")

    def master(self, job: Object, role: str, index: int) -> bool:
        """Whether a pod has the label of the master: the chief, or the first worker without one."""
        if {CHIEF, MASTER} & set(self.replicas(job)):
            return role in {CHIEF, MASTER}
        return role == WORKER and index == 0

    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add TF_CONFIG, where there is more than one replica."""
        counts = self.counts(job)
        if sum(counts.values()) == 1:
            return
        ending = f"{namespace_of(job)}.svc"
        cluster = {
            name.lower(): [
                f"{self.host(job, name, one_index)}.{ending}:{self.port_of(job, name)}" for one_index in range(many)
            ]
            for name, many in counts.items()
        }
        task = {"type": role.lower(), "index": index}
        config: Object = {"cluster": dict(sorted(cluster.items())), "task": task, "environment": "cloud"}
        if job["spec"].get("enableDynamicWorker"):
            config = {"cluster": sparse(cluster, role.lower(), index), "task": task}
        for container in spec["containers"]:
            if container.get("name") == self.container:
                add(container, variable("TF_CONFIG", json.dumps(config, separators=(",", ":"))))
                break


def sparse(cluster: Mapping[str, list[str]], role: str, index: int) -> Object:
    """Return the cluster as a task knows it whose workers come and go: itself, and as a worker all servers."""
    if role == "ps":
        return {"worker": {}, "ps": [cluster[role][index]]}
    if role == "worker":
        return {"worker": {str(index): cluster[role][index]}, "ps": cluster.get("ps")}
    return {"worker": {}, "ps": []}


CONTROLLERS = (TFJob(),)
