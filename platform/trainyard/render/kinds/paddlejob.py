"""PaddleJob: workers alone, which train alike and find each other by a Service a pod.

A Master would make it a job of parameter servers, of which the Master is one (training-operator v1.9.4
pkg/controller.v1/paddlepaddle/envvar.go): so there is none.
Facts: training-operator v1.9.4 pkg/controller.v1/paddlepaddle.
"""

from __future__ import annotations

from trainyard.render.kinds.replicated import Replicated


class PaddleJob(Replicated):
    """A PaddleJob: containers that fail are restarted in their place, and it is done when all workers are."""

    name = "PaddleJob"
    gives = frozenset({"rank", "master", "hosts"})
    container = "paddle"
    field = "paddleReplicaSpecs"
    port = 36543
    """Of the first worker (pkg/apis/kubeflow.org/v1/paddlepaddle_types.go)."""


KIND = PaddleJob()
