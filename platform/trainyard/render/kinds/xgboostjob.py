"""XGBoostJob: a Master and Workers, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/xgboost, pkg/webhooks/xgboost.
"""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.kinds.replicated import IN_PLACE, Led


class XGBoostJob(Led):
    """An XGBoostJob: containers that fail are restarted in their place, and it is done when the Master is.

    A pod that is deleted while it runs, as by a drain, ends the job as failed whatever its policy: with ExitCode, which
    would spare it, a program that fails by an exception, code 1, would end the job instead.
    """

    name = "XGBoostJob"
    gives = frozenset({"rank", "master"})
    container = "xgboost"
    mortal = frozenset({"worker"})
    field = "xgbReplicaSpecs"
    port = 9999
    """Of the Master (pkg/apis/kubeflow.org/v1/xgboost_types.go)."""
    behaviour = replace(
        IN_PLACE,
        drained="a drain fails the run; after a preemption it starts again",
        done="the first pod has ended with 0",
    )


KIND = XGBoostJob()
