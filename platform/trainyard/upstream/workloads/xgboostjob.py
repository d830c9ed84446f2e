"""XGBoostJob: a master and workers of XGBoost.

Facts: training-operator v1.9.4; kueue v0.19.2 pkg/controller/jobs/kubeflow.
"""

from __future__ import annotations

from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

RANKS = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"})
VARIABLES = Variables(RANKS | {"PYTHONUNBUFFERED", "WORKER_ADDRS", "WORKER_PORT"})

CARRIER = kubeflow("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker", variables=VARIABLES)
