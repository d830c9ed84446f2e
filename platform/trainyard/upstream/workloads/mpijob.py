"""MPIJob: a launcher and the workers that it reaches by SSH.

Facts: mpi-operator v0.8.0; kueue v0.19.2 pkg/controller/jobs/mpijob.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.workloads.arriving import Added
from trainyard.upstream.workloads.base import Object
from trainyard.upstream.workloads.integration import REPLICA_INDEX, Integration
from trainyard.upstream.workloads.kubeflow import kubeflow
from trainyard.upstream.workloads.variables import Variables

ROLE = frozenset({"K_MPI_JOB_ROLE"})
OF_LAUNCHER = frozenset(
    {
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_plm_rsh_args",
        "OMPI_MCA_orte_set_default_slots",
        "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_DRIVER_CAPABILITIES",
    }
)
VARIABLES = Variables(ROLE, {"launcher": ROLE | OF_LAUNCHER}, r"OMPI_MCA_\w+|I_MPI_\w+|HYDRA_\w+")
"""Of Open MPI by default; Intel MPI and MPICH have their own."""


def arriving(value: Object, pods: str) -> Iterator[Added]:
    """Yield the init container that gives kubectl to a launcher of v1.

    Source: training-operator v1.9.4 pkg/controller.v1/mpi/mpijob_controller.go.
    """
    if pods == "launcher" and value.get("apiVersion") == "kubeflow.org/v1":
        yield Added("kubectl-delivery", "initContainers", remedy="use kubeflow.org/v2beta1 of the MPI operator")


CARRIER = kubeflow(
    "MPIJob",
    "mpiReplicaSpecs",
    "Launcher",
    "Worker",
    operator="mpi-operator",
    queueing=Integration(grouped=True, index=REPLICA_INDEX),
    variables=VARIABLES,
    arriving=arriving,
    volumes=("ssh-auth", "mpi-job-config", "mpi-job-kubectl"),
)
