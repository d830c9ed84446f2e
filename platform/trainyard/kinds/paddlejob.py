"""PaddleJob: workers alone, which train alike and find each other by a Service a pod.

A Master would make it a job of parameter servers, of which the Master is one (training-operator v1.9.4
pkg/controller.v1/paddlepaddle/envvar.go): so there is none.
Facts: training-operator v1.9.4 pkg/controller.v1/paddlepaddle, pkg/controller.v1/common; kueue v0.19.2
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

FIELD = "paddleReplicaSpecs"

PORT = 36543
"""Where the operator says that the first worker listens (pkg/apis/kubeflow.org/v1/paddlepaddle_types.go)."""


class PaddleJob(Kind):
    """A PaddleJob: containers that fail are restarted in their place, and it is done when all workers are."""

    name = "PaddleJob"
    group = GROUP
    version = "v1"
    gives = frozenset({"rank", "master", "hosts"})
    replicas = {"worker": "Worker"}  # noqa: RUF012
    container = "paddle"
    waits_for_all = False
    objects = frozenset({"kubeflow.org/PaddleJob", "/ConfigMap"})
    ignore = (ignored("PaddleJob", FIELD),)
    health = health(FIELD)
    behaviour = Behaviour(
        fails="its container is started again in its place, and so are those that fail for want of it",
        drained="its pod is made anew, and the others restart in their place",
        counts="restarts of containers, restarts times the number of pods",
        done="all pods have ended with 0",
        late="the run fails when the kubelet has ended the first of its pods",
        unready=ONE_IS_ENOUGH,
    )

    def injected(self, _role: str) -> frozenset[str]:
        """Return what the operator appends to the variables of a pod."""
        return frozenset({"PYTHONUNBUFFERED", "PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "POD_IP_DUMMY"})

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-worker-<index>`, which is also the name of the pod's Service."""
        return f"{run}-{role}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services; they have no domain of the job's."""
        label = f"metadata.labels['{INDEX_LABEL}']"
        return Wiring(
            host=lambda role, index: self.host(run.name, role, index),
            rank=INDEX,
            rank_field=label,
            port=PORT,
            fields={INDEX: label},
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the PaddleJob and the files."""
        spec = {
            "runPolicy": run_policy(run, backoff=allowed(run)),
            FIELD: replicas(run, {"worker": "OnFailure"}, deadline=deadline(run)),
        }
        yield queued(run, spec)
        yield from files(run)


KIND = PaddleJob()
