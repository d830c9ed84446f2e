"""TFJob: TensorFlow's roles as replica types, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/tensorflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.replicated import IN_PLACE, Replicated
from trainyard.render.launchers import Wiring
from trainyard.specs.run import Run


class TFJob(Replicated):
    """A TFJob: pods are made anew one by one, and the operator tells every one of them who the others are.

    It does not restart a gang. When a task is gone, the others fail and are restarted in their place, each of them
    counted.

    A pod that is deleted while it runs counts as failed until it is gone, and one that failed ends the job. Dynamic
    workers are let off that, and made anew; chief, parameter servers and evaluator are not. With them the operator's
    TF_CONFIG names no worker but the pod's own, so a launcher has to say who the others are.
    """

    name = "TFJob"
    gives = frozenset({"rank", "master", "hosts"})
    replicas = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}  # noqa: RUF012
    container = "tensorflow"
    mortal = frozenset({"chief", "ps", "evaluator"})
    field = "tfReplicaSpecs"
    behaviour = replace(
        IN_PLACE,
        drained="a worker is created again and the others restart in their pods; a drain of another role fails the run",
        done="the chief has ended with 0, or without a chief all workers",
    )

    def wiring(self, run: Run) -> Wiring:
        """Return the same with TF_CONFIG, which the operator works out."""
        return replace(super().wiring(run), sets=frozenset({"TF_CONFIG"}))

    def says(self, run: Resolved) -> Mapping[str, Any]:
        """Return the same with when the job is done, without a chief when all workers are, and workers made anew."""
        led = "chief" in {role.name for role in run.roles}
        return {**super().says(run), "successPolicy": None if led else "AllWorkers", "enableDynamicWorker": True}


KIND = TFJob()
