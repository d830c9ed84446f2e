"""MPIJob v2beta1: workers that wait for ranks, and a launcher that starts them over ssh.

Facts: mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go, pkg/apis/kubeflow/validation; kueue v0.19.2
pkg/controller/jobs/mpijob; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.kinds.base import Kind, Resolved, files, queued
from trainyard.kinds.behaviour import QUEUED_AGAIN, Behaviour
from trainyard.kinds.kubeflow import GROUP, INDEX_LABEL, health, ignored, replicas, run_policy
from trainyard.launchers import Wiring
from trainyard.parts.objects import Resource
from trainyard.specs.run import Run

FIELD = "mpiReplicaSpecs"
LAUNCHER = "launcher"

KEYS = "/etc/ssh-keys"
"""Where the operator mounts the job's own key pair; below root's home, its default, no other user may look."""

HOSTFILE = "/etc/mpi/hostfile"

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


class MPIJob(Kind):
    """An MPIJob: the launcher's end is the job's, and a launcher that fails is started again among the same workers.

    It waits for the workers to be ready. A worker whose container ends, as when it runs out of memory, is restarted in
    its place, so that the next launcher finds it. Kueue takes it for ready by the condition Running, which says that
    launcher and all workers have run at once, and which nothing but a suspension takes back.
    """

    name = "MPIJob"
    group = GROUP
    version = "v2beta1"
    gives = frozenset({"ssh", "hosts", "master", "elastic"})
    replicas = {"launcher": "Launcher", "worker": "Worker"}  # noqa: RUF012
    required = frozenset({LAUNCHER})
    waits_for_all = False
    objects = frozenset({"kubeflow.org/MPIJob", "/ConfigMap"})
    ignore = (ignored("MPIJob", FIELD),)
    health = health(FIELD)
    behaviour = Behaviour(
        fails="mpirun ends all ranks, and the launcher starts them again among the same workers",
        drained="the worker is made anew, and the launcher waits for it",
        counts="failures of the launcher's pod",
        done="the launcher has ended with 0",
        unready=f"{QUEUED_AGAIN}; once all have run at once, they are waited for",
    )

    def gang(self, run: Resolved) -> Mapping[str, int]:
        """Return the workers: the launcher is made when they are ready."""
        return {role: least for role, least in super().gang(run).items() if role != LAUNCHER}

    def injected(self, role: str) -> frozenset[str]:
        """Return what the operator adds to a role's pods."""
        return frozenset({"K_MPI_JOB_ROLE"}) | (OF_LAUNCHER if role == LAUNCHER else frozenset())

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-worker-<index>`; there is one launcher."""
        return f"{run}-{role}" if role == LAUNCHER else f"{run}-{role}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the operator's Service, which is called as the job."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank="",
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            keys=KEYS,
            hostfile=HOSTFILE,
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the MPIJob and the files."""
        worker = run.roles[0]
        spec = {
            "launcherCreationPolicy": "WaitForWorkersReady",
            "mpiImplementation": "OpenMPI",
            "slotsPerWorker": worker.processes,
            "sshAuthMountPath": KEYS,
            "runPolicy": run_policy(run, backoff=run.sizing.restarts.value),
            FIELD: replicas(run, {LAUNCHER: "Never", "worker": "OnFailure"}),
        }
        yield queued(run, spec)
        yield from files(run)


KIND = MPIJob()
