"""TFJob: TensorFlow's roles as replica types, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/tensorflow, pkg/controller.v1/common; kueue v0.19.2
pkg/controller/jobs/kubeflow; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.kinds.base import Kind, Resolved, files, queued
from trainyard.kinds.behaviour import ONE_IS_ENOUGH, Behaviour
from trainyard.kinds.kubeflow import (
    GROUP,
    INDEX,
    INDEX_LABEL,
    allowed,
    deadline,
    health,
    ignored,
    replicas,
    run_policy,
)
from trainyard.launchers import Wiring
from trainyard.parts.objects import Resource
from trainyard.specs.run import Run

FIELD = "tfReplicaSpecs"


class TFJob(Kind):
    """A TFJob: pods are made anew one by one, and the operator tells every one of them who the others are.

    It does not restart a gang. When a task is gone, the others fail and are restarted in their place, each of them
    counted.

    A pod that is deleted while it runs counts as failed until it is gone, and one that failed ends the job. Dynamic
    workers are let off that, and made anew; chief, parameter servers and evaluator are not. With them the operator's
    TF_CONFIG names no worker but the pod's own, so a launcher has to say who the others are.
    """

    name = "TFJob"
    group = GROUP
    version = "v1"
    gives = frozenset({"rank", "master", "hosts"})
    replicas = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}  # noqa: RUF012
    container = "tensorflow"
    waits_for_all = False
    mortal = frozenset({"chief", "ps", "evaluator"})
    objects = frozenset({"kubeflow.org/TFJob", "/ConfigMap"})
    ignore = (ignored("TFJob", FIELD),)
    health = health(FIELD)
    behaviour = Behaviour(
        fails="its container is started again in its place, and so are those that fail for want of it",
        drained="a worker is made anew, and the others restart in their place; a drain of other roles fails the run",
        counts="restarts of containers, restarts times the number of pods",
        done="the chief has ended with 0, or all workers have where there is no chief",
        late="the run fails when the kubelet has ended the first of its pods",
        unready=ONE_IS_ENOUGH,
    )

    def injected(self, _role: str) -> frozenset[str]:
        """Return what the operator works out where there are several pods."""
        return frozenset({"TF_CONFIG"})

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-<type>-<index>`, which is also the name of the pod's Service."""
        return f"{run}-{role}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services; they have no domain of the job's."""
        return Wiring(
            host=lambda role, index: self.host(run.name, role, index),
            rank=INDEX,
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            fields={INDEX: f"metadata.labels['{INDEX_LABEL}']"},
            sets=frozenset({"TF_CONFIG"}),
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the TFJob and the files; without a chief the job is done when all workers are."""
        spec = {
            "runPolicy": run_policy(run, backoff=allowed(run)),
            "successPolicy": None if "chief" in {role.name for role in run.roles} else "AllWorkers",
            "enableDynamicWorker": True,
            FIELD: replicas(run, {role.name: "OnFailure" for role in run.roles}, deadline=deadline(run)),
        }
        yield queued(run, spec)
        yield from files(run)


KIND = TFJob()
