"""PaddleJob: workers of PaddlePaddle.

Facts: training-operator v1.9.4; kueue v0.19.2 pkg/controller/jobs/kubeflow.
"""

from __future__ import annotations

from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

COMMON = frozenset({"PYTHONUNBUFFERED", "PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "POD_IP_DUMMY"})
VARIABLES = Variables(COMMON | {"PADDLE_TRAINER_NUM"}, {"master": COMMON | {"PADDLE_SERVER_NUM"}})

CARRIER = kubeflow("PaddleJob", "paddleReplicaSpecs", "Master", "Worker", variables=VARIABLES)
