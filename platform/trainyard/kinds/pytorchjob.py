"""PyTorchJob: a Master and Workers of fixed size, or Workers alone whose number may change.

Facts: training-operator v1.9.4 pkg/controller.v1/pytorch, pkg/controller.v1/common, pkg/core; kueue v0.19.2
pkg/controller/jobs/kubeflow; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.findings import Finding, Severity
from trainyard.kinds.base import Kind, Resolved, files, queued
from trainyard.kinds.behaviour import ONE_IS_ENOUGH, Behaviour
from trainyard.kinds.kubeflow import (
    GROUP,
    INDEX,
    INDEX_LABEL,
    allowed,
    check_split,
    deadline,
    first_is_master,
    health,
    ignored,
    led,
    replicas,
    run_policy,
)
from trainyard.launchers import Wiring
from trainyard.parts.objects import Resource
from trainyard.rules import Rule
from trainyard.specs.run import Run

FIELD = "pytorchReplicaSpecs"

PORT = 23456
"""Where the operator says that the first pod listens (pkg/apis/kubeflow.org/v1/pytorch_types.go)."""

ALWAYS = ("PYTHONUNBUFFERED", "PET_NNODES", "PET_NPROC_PER_NODE")
OF_GANG = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK")
OF_ELASTIC = ("PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT")


OPERATOR = "training-operator"

INIT_IMAGE = Rule(
    id="to1-init-image",
    title="Workers of a PyTorchJob start without the container in which the operator has them wait for the Master.",
    why="it comes from Docker Hub, Pod Security restricted refuses it, and the kubelet pins no CPUs for a pod with it",
    fix="install training-operator from here, name another kind, or waive this where its template is your own",
    source="kubeflow/trainer v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, pkg/config/config.go",
    layer="run",
    may_waive=True,
    may_warn=True,
)


class PyTorchJob(Kind):
    """A PyTorchJob: containers that fail are restarted in their place, pods that are gone are made anew.

    It does not restart a gang. When a rank is gone, the collectives of the others fail, and each of them is restarted,
    so one restart costs one of every pod. Kueue takes it for ready as long as the operator says that it runs. It is
    done when the Master is, or when any Worker of an elastic job is: then those that still run are taken away, so ranks
    have to wait for each other at their end, as torchrun's agents do.
    """

    name = "PyTorchJob"
    group = GROUP
    version = "v1"
    gives = frozenset({"rank", "master", "elastic"})
    replicas = {"worker": "Worker"}  # noqa: RUF012
    container = "pytorch"
    waits_for_all = False
    objects = frozenset({"kubeflow.org/PyTorchJob", "/ConfigMap"})
    ignore = (ignored("PyTorchJob", FIELD),)
    health = health(FIELD)
    behaviour = Behaviour(
        fails="its container is started again in its place, and so are those that fail for want of it",
        drained="its pod is made anew, and the others restart in their place",
        counts="restarts of containers, restarts times the number of pods",
        done="the first pod has ended with 0, or any of an elastic job",
        late="the run fails when the kubelet has ended the first of its pods",
        unready=ONE_IS_ENOUGH,
    )

    def injected(self, _role: str) -> frozenset[str]:
        """Return what the operator appends to the variables of a pod, so that it hides others of the same names."""
        return frozenset({*ALWAYS, *OF_GANG, *OF_ELASTIC})

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-master-0` for the first worker, and `<job>-worker-<index - 1>` for the others."""
        return first_is_master(run, role, index)

    def wiring(self, run: Run) -> Wiring:
        """Return the names of Services, one a pod and without a domain, and who tells a pod its rank.

        An elastic job has no Master, so the operator tells its pods no rank: they have it from their labels.
        """
        if run.job.min_nodes is not None:
            label = f"metadata.labels['{INDEX_LABEL}']"
            return Wiring(
                host=lambda role, index: f"{run.name}-{role}-{index}",
                rank=INDEX,
                rank_field=label,
                port=PORT,
                fields={INDEX: label},
            )
        return Wiring(
            host=lambda role, index: first_is_master(run.name, role, index), rank="RANK", rank_field=None, port=PORT
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the PyTorchJob and the files.

        A number of processes makes the operator's WORLD_SIZE count processes; by default it counts pods.
        """
        bounds = elastic(run)
        late = deadline(run)
        pods = replicas(run, {"worker": "OnFailure"}, deadline=late) if bounds else led(run, "OnFailure", deadline=late)
        spec = {
            "nprocPerNode": str(run.roles[0].processes),
            "elasticPolicy": bounds or None,
            "runPolicy": run_policy(run, backoff=allowed(run)),
            FIELD: pods,
        }
        yield queued(run, spec)
        yield from files(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield slices, into which pods that stand apart cannot be cut, and what waits for the Master in their pods."""
        if not elastic(run):
            yield from check_split(run)
            yield from check_waiting(run)


def check_waiting(run: Resolved) -> Iterator[Finding]:
    """Yield an operator that is not ours, and so has its own container in every Worker."""
    choice, where = run.run.cluster.operators.get(OPERATOR), run.run.cluster_name
    if choice is None or choice.managed or run.roles[0].pods == 1:
        return
    has = f"the training-operator of {where!r} is not installed from here; its init container has no security context"
    if run.run.team.level_on(where) == "restricted":
        message = f"{has}, so that no Worker starts in {run.run.namespace!r}"
        yield INIT_IMAGE.at(run.run.source, ("kind",), message)
    else:
        yield INIT_IMAGE.at(
            run.run.source, ("kind",), f"{has}, and its image is Docker Hub's", severity=Severity.WARNING
        )


def elastic(run: Resolved) -> dict[str, Any]:
    """Return the bounds of a run that may change its size; without metrics nothing but a person changes it."""
    job = run.run.job
    if job.min_nodes is None:
        return {}
    return {"rdzvBackend": "c10d", "minReplicas": job.min_nodes, "maxReplicas": job.max_nodes or job.nodes}


KIND = PyTorchJob()
