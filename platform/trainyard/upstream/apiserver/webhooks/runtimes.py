"""The ClusterTrainingRuntimes that Trainer brings, as far as webhooks read them: policies, jobs, containers, volumes.

Source: trainer v2.3.0 manifests/base/runtimes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
UNCHECKED = "trainer.kubeflow.org/webhook-validation"
"""Label whose value `disabled` keeps a runtime from the webhooks."""

_SHARED = [{"mountPath": "/workspace", "name": "initializer"}]


def _job(name: str, *, container: str = "node", step: str = "", mounts: Any = ()) -> Object:
    labels = {"labels": {ANCESTOR: step}} if step else {}
    pod = {"containers": [{"name": container, "volumeMounts": [*mounts]}]}
    return {"name": name, "template": {"metadata": labels, "spec": {"template": {"spec": pod}}}}


def _runtime(policy: Object, *jobs: Object) -> Object:
    return {"mlPolicy": {"numNodes": 1, **policy}, "template": {"spec": {"replicatedJobs": [*jobs]}}}


_NODE = _job("node", step="trainer")
_MPI = _runtime(
    {"mpi": {"mpiImplementation": "OpenMPI", "numProcPerNode": 1, "runLauncherAsNode": True}},
    _job("node"),
    _job("launcher", step="trainer"),
)
_TUNE = _runtime(
    {"torch": {}},
    *(_job(name, container=name, step=name, mounts=_SHARED) for name in ("dataset-initializer", "model-initializer")),
    _job("node", step="trainer", mounts=_SHARED),
)
BROUGHT: Mapping[str, Object] = {
    "deepspeed-distributed": _MPI,
    "jax-distributed": _runtime({"jax": {}}, _NODE),
    "mlx-distributed": _MPI,
    "torch-distributed": _runtime({"torch": {}}, _NODE),
    "torchtune-llama3.2-1b": _TUNE,
    "torchtune-llama3.2-3b": _TUNE,
    "torchtune-qwen2.5-1.5b": _TUNE,
    "xgboost-distributed": _runtime({"xgboost": {}}, _NODE),
}
"""By name, their specifications."""
