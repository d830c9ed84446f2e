"""PyTorchJob: a Master and Workers of fixed size, or Workers alone whose number may change.

Facts: training-operator v1.9.4 pkg/controller.v1/pytorch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.replicated import IN_PLACE, Led, Replicated, by_index
from trainyard.render.launchers import Wiring
from trainyard.specs.run import Run

OPERATOR = "training-operator"

INIT_IMAGE = Rule(
    id="to1-init-image",
    title="Workers of a PyTorchJob start without the operator's init container.",
    why="its image is on Docker Hub, Pod Security restricted refuses it, and the kubelet pins no CPUs for such a pod",
    fix="let Trainyard install training-operator, use another kind, or waive this if your own template is used",
    source="kubeflow/trainer v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, pkg/config/config.go",
    layer="run",
    may_waive=True,
    may_warn=True,
)


class PyTorchJob(Led):
    """A PyTorchJob: containers that fail are restarted in their place, pods that are gone are made anew.

    It does not restart a gang. When a rank is gone, the collectives of the others fail, and each of them is restarted,
    so one restart costs one of every pod. Kueue takes it for ready as long as the operator says that it runs. It is
    done when the Master is, or when any Worker of an elastic job is: then those that still run are taken away, so ranks
    have to wait for each other at their end, as torchrun's agents do.

    An elastic job has no Master, so the operator tells its pods no rank: they have it from their labels.
    """

    name = "PyTorchJob"
    gives = frozenset({"rank", "master", "elastic"})
    container = "pytorch"
    field = "pytorchReplicaSpecs"
    port = 23456
    """Of the first pod (pkg/apis/kubeflow.org/v1/pytorch_types.go)."""
    behaviour = replace(IN_PLACE, done="the first pod has ended with 0, or any of an elastic job")

    def wiring(self, run: Run) -> Wiring:
        """Return how pods meet: by the Master, or by their index where there is none."""
        return super().wiring(run) if run.job.min_nodes is None else by_index(run.name, self.port)

    def says(self, run: Resolved) -> Mapping[str, Any]:
        """Return the same with bounds of its size, and how many processes a pod has.

        A number of processes makes the operator's WORLD_SIZE count processes; by default it counts pods.
        """
        own = {"nprocPerNode": str(run.roles[0].processes), "elasticPolicy": elastic(run) or None}
        return {**own, **super().says(run)}

    def pods(self, run: Resolved) -> dict[str, Any]:
        """Return Master and Workers, or the Workers of an elastic job."""
        return Replicated.pods(self, run) if elastic(run) else super().pods(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield slices, into which pods that stand apart cannot be cut, and what waits for the Master in their pods."""
        if not elastic(run):
            yield from super().check(run)
            yield from check_waiting(run)


def check_waiting(run: Resolved) -> Iterator[Finding]:
    """Yield an operator that is not ours, and so has its own container in every Worker."""
    choice, where = run.run.cluster.operators.get(OPERATOR), run.run.cluster_name
    if choice is None or choice.managed or run.roles[0].pods == 1:
        return
    has = f"Trainyard does not install the training-operator of {where!r}, whose init container has no security context"
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
