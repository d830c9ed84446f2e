"""TFJob: roles of TensorFlow.

Facts: training-operator v1.9.4; kueue v0.19.2 pkg/controller/jobs/kubeflow.
"""

from __future__ import annotations

from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

VARIABLES = Variables(frozenset({"TF_CONFIG"}))
"""Where there are several pods."""

CARRIER = kubeflow("TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator", variables=VARIABLES)
