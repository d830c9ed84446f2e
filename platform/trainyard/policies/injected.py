"""Variables that controllers set in the pods of each kind, seen on real ones: arguments may refer to them.

Facts: Kubernetes 1.35.4, jobset v0.12.0, trainer v2.3.0, training-operator v1.9.4, mpi-operator v0.8.2, kuberay v1.6.2,
lws v0.9.0 and volcano v1.14.1, recorded from pods that they made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.policies.world import TrainingJob

INDEX = "JOB_COMPLETION_INDEX"
TRAINER = rf"{INDEX}|PET_\w+|JAX_\w+|DMLC_\w+|OMPI_\w+"
RAY = r"RAY_\w+|FQ_RAY_IP|KUBERAY_\w+"

NAMES: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "Pod": "",
        "Job": INDEX,
        "CronJob": INDEX,
        "ScaledJob": INDEX,
        "JobSet": INDEX,
        "TrainJob": TRAINER,
        "TrainingRuntime": TRAINER,
        "ClusterTrainingRuntime": TRAINER,
        "PyTorchJob": r"PYTHONUNBUFFERED|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|PET_\w+",
        "TFJob": "TF_CONFIG",
        "XGBoostJob": r"PYTHONUNBUFFERED|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|WORKER_PORT|WORKER_ADDRS",
        "PaddleJob": r"PYTHONUNBUFFERED|PADDLE_\w+|POD_IP_DUMMY",
        "JAXJob": "PYTHONUNBUFFERED|COORDINATOR_PORT|COORDINATOR_ADDRESS|NUM_PROCESSES|PROCESS_ID",
        "MPIJob": r"K_MPI_JOB_ROLE|OMPI_MCA_\w+|I_MPI_\w+|HYDRA_\w+",
        "RayCluster": RAY,
        "RayJob": rf"{RAY}|PYTHONUNBUFFERED",
        "RayCronJob": rf"{RAY}|PYTHONUNBUFFERED",
        "LeaderWorkerSet": r"LWS_\w+",
    }.items()
}
"""By kind; of Volcano's kinds, which plugins fill in, see VOLCANO."""

VOLCANO = re.compile(r"V[CK]_\w+|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|TF_CONFIG|MPI_HOST")
"""By the plugins env, svc, pytorch, tensorflow and mpi."""


def injected(job: TrainingJob, name: str) -> bool:
    """Say whether a controller may set a variable in the pods of an object: one that nobody here knows may set any."""
    if "volcano" in job.manifest.group:
        return VOLCANO.fullmatch(name) is not None
    pattern = NAMES.get(job.manifest.kind)
    return pattern is None or pattern.fullmatch(name) is not None
