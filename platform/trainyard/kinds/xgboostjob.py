"""XGBoostJob: a Master and Workers, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/xgboost, pkg/webhooks/xgboost, pkg/controller.v1/common; kueue v0.19.2
pkg/controller/jobs/kubeflow; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding
from trainyard.kinds.base import Kind, Resolved, files, queued
from trainyard.kinds.behaviour import ONE_IS_ENOUGH, Behaviour
from trainyard.kinds.kubeflow import (
    GROUP,
    allowed,
    check_split,
    deadline,
    first_is_master,
    health,
    ignored,
    led,
    run_policy,
)
from trainyard.launchers import Wiring
from trainyard.parts.objects import Resource
from trainyard.specs.run import Run

FIELD = "xgbReplicaSpecs"

PORT = 9999
"""Where the operator says that the Master listens (pkg/apis/kubeflow.org/v1/xgboost_types.go)."""


class XGBoostJob(Kind):
    """An XGBoostJob: containers that fail are restarted in their place, and it is done when the Master is.

    A pod that is deleted while it runs, as by a drain, ends the job as failed whatever its policy: with ExitCode, which
    would spare it, a program that fails by an exception, code 1, would end the job instead.
    """

    name = "XGBoostJob"
    group = GROUP
    version = "v1"
    gives = frozenset({"rank", "master"})
    replicas = {"worker": "Worker"}  # noqa: RUF012
    container = "xgboost"
    waits_for_all = False
    mortal = frozenset({"worker"})
    objects = frozenset({"kubeflow.org/XGBoostJob", "/ConfigMap"})
    ignore = (ignored("XGBoostJob", FIELD),)
    health = health(FIELD)
    behaviour = Behaviour(
        fails="its container is started again in its place, and so are those that fail for want of it",
        drained="the run fails by a drain, and starts anew after a preemption",
        counts="restarts of containers, restarts times the number of pods",
        done="the first pod has ended with 0",
        late="the run fails when the kubelet has ended the first of its pods",
        unready=ONE_IS_ENOUGH,
    )

    def injected(self, _role: str) -> frozenset[str]:
        """Return what the operator appends to the variables of a pod; its WORLD_SIZE counts pods."""
        ranks = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
        return frozenset({"PYTHONUNBUFFERED", *ranks, "WORKER_ADDRS", "WORKER_PORT"})

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-master-0` for the first worker, and `<job>-worker-<index - 1>` for the others."""
        return first_is_master(run, role, index)

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services, one a pod and without a domain; the operator tells every pod its rank."""
        return Wiring(
            host=lambda role, index: self.host(run.name, role, index), rank="RANK", rank_field=None, port=PORT
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the XGBoostJob and the files."""
        spec = {
            "runPolicy": run_policy(run, backoff=allowed(run)),
            FIELD: led(run, "OnFailure", deadline=deadline(run)),
        }
        yield queued(run, spec)
        yield from files(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield slices, into which pods that stand apart cannot be cut."""
        yield from check_split(run)


KIND = XGBoostJob()
