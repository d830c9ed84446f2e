"""JAXJob: workers alone, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/jax, pkg/controller.v1/common; kueue v0.19.2
pkg/controller/jobs/kubeflow; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.kinds.base import Kind, Resolved, files, queued
from trainyard.kinds.behaviour import ONE_IS_ENOUGH, Behaviour
from trainyard.kinds.kubeflow import GROUP, INDEX_LABEL, allowed, deadline, health, ignored, replicas, run_policy
from trainyard.launchers import Wiring
from trainyard.parts.objects import Resource
from trainyard.specs.run import Run

FIELD = "jaxReplicaSpecs"

PORT = 6666
"""Where the operator says that the coordinator listens (pkg/apis/kubeflow.org/v1/jax_types.go)."""


class JAXJob(Kind):
    """A JAXJob: containers that fail are restarted in their place, and it is done when all workers are.

    It does not restart a gang: JAX's coordinator ends all processes when one is gone, and each of them is restarted.
    """

    name = "JAXJob"
    group = GROUP
    version = "v1"
    gives = frozenset({"rank", "master", "hosts"})
    replicas = {"worker": "Worker"}  # noqa: RUF012
    container = "jax"
    waits_for_all = False
    objects = frozenset({"kubeflow.org/JAXJob", "/ConfigMap"})
    ignore = (ignored("JAXJob", FIELD),)
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
        """Return what the operator appends to the variables of a pod; JAX itself reads none of them."""
        return frozenset({"PYTHONUNBUFFERED", "COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"})

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-worker-<index>`, which is also the name of the pod's Service."""
        return f"{run}-{role}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services; they have no domain of the job's."""
        return Wiring(
            host=lambda role, index: self.host(run.name, role, index),
            rank="PROCESS_ID",
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            port=PORT,
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the JAXJob and the files."""
        spec = {
            "runPolicy": run_policy(run, backoff=allowed(run)),
            FIELD: replicas(run, {"worker": "OnFailure"}, deadline=deadline(run)),
        }
        yield queued(run, spec)
        yield from files(run)


KIND = JAXJob()
