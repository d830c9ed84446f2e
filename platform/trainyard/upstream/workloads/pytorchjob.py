"""PyTorchJob: a master and workers of PyTorch.

Facts: training-operator v1.9.4; kueue v0.19.2 pkg/controller/jobs/kubeflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.upstream.workloads.arriving import Added
from trainyard.upstream.workloads.base import Object, inner
from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

ALWAYS = frozenset({"PYTHONUNBUFFERED", "PET_NNODES", "PET_NPROC_PER_NODE"})
OF_GANG = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"})
OF_TORCHRUN = frozenset({"PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK"})
OF_ELASTIC = frozenset({"PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT"})
MASTER = ("spec", "pytorchReplicaSpecs", "Master")
VARIABLES = Variables(ALWAYS | OF_GANG | OF_TORCHRUN | OF_ELASTIC, others=r"PET_\w+", bound=OF_GANG, bound_to=MASTER)
"""Without a Master the operator names none (pkg/controller.v1/pytorch/envvar.go setPodEnv)."""


def arriving(value: Object, pods: str) -> Iterator[Added]:
    """Yield the container in which Workers wait for the Master (pkg/controller.v1/pytorch/initcontainer.go)."""
    if pods == "worker" and isinstance(inner(value, "spec", "pytorchReplicaSpecs").get("Master"), Mapping):
        remedy = "give the operator a template of this container with a security context"
        yield Added("init-pytorch", "initContainers", remedy=remedy, replaced=True)


CARRIER = kubeflow("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker", variables=VARIABLES, arriving=arriving)
