"""TrainJob: a JobSet made of a runtime and of what the job says.

Facts: trainer v2.3.0; kueue v0.19.2 pkg/controller/jobs/trainjob.
"""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import Integration
from trainyard.upstream.workloads.runtimes import TRAINER, VARIABLES

CARRIER = Carrier(
    TRAINER,
    "TrainJob",
    operator="trainer",
    framework="trainer.kubeflow.org/trainjob",
    queueing=Integration(),
    suspend=("spec", "suspend"),
    trains=True,
    variables=VARIABLES,
    ending=Ending("Complete"),
)
