"""JAXJob: workers of JAX.

Facts: training-operator v1.9.4; kueue v0.19.2 pkg/controller/jobs/kubeflow.
"""

from __future__ import annotations

from dataclasses import replace

from trainyard.upstream.workloads.integration import OF_KUBEFLOW
from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

VARIABLES = Variables(
    frozenset({"PYTHONUNBUFFERED", "COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"})
)

CARRIER = kubeflow(
    "JAXJob", "jaxReplicaSpecs", "Worker", variables=VARIABLES, queueing=replace(OF_KUBEFLOW, prebuilt=False)
)
