"""MPIJob v2beta1: workers that wait for ranks, and a launcher that starts them over ssh.

Facts: mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go, pkg/apis/kubeflow/validation; kueue v0.19.2
pkg/controller/jobs/mpijob; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.behaviour import QUEUED_AGAIN, SERVES, Behaviour
from trainyard.render.kinds.kubeflow import INDEX_LABEL, run_policy
from trainyard.render.kinds.replicated import Replicated, pod_name, replica
from trainyard.render.launchers import Wiring
from trainyard.specs.run import Run

LAUNCHER = "launcher"

KEYS = "/etc/ssh-keys"
"""Where the operator mounts the job's own key pair; below root's home, its default, no other user may look."""

HOSTFILE = "/etc/mpi/hostfile"


class MPIJob(Replicated):
    """An MPIJob: the launcher's end is the job's, and a launcher that fails is started again among the same workers.

    It waits for the workers to be ready. A worker whose container ends, as when it runs out of memory, is restarted in
    its place, so that the next launcher finds it. Kueue takes it for ready by the condition Running, which says that
    launcher and all workers have run at once, and which nothing but a suspension takes back.
    """

    name = "MPIJob"
    version = "v2beta1"
    gives = frozenset({"ssh", "hosts", "master", "elastic"})
    replicas = {"launcher": "Launcher", "worker": "Worker"}  # noqa: RUF012
    required = frozenset({LAUNCHER})
    field = "mpiReplicaSpecs"
    behaviour = Behaviour(
        fails="mpirun ends all ranks, and the launcher restarts them on the same workers",
        drained="the worker is created again, and the launcher waits for it",
        counts="a failure of the launcher's pod",
        done="the launcher has ended with 0",
        unready=f"{QUEUED_AGAIN}; not after all pods have run at the same time",
        faulty=SERVES,
    )

    def together(self, run: Resolved) -> Mapping[str, int]:
        """Return the workers: the launcher is made when they are ready."""
        return {role: least for role, least in super().together(run).items() if role != LAUNCHER}

    def host(self, run: str, role: str, index: int) -> str:
        """Return `<job>-worker-<index>`; there is one launcher."""
        return f"{run}-{role}" if role == LAUNCHER else pod_name(run, role, index)

    def wiring(self, run: Run) -> Wiring:
        """Return names below the operator's Service, which is called as the job."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank="",
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            keys=KEYS,
            hostfile=HOSTFILE,
        )

    def says(self, run: Resolved) -> Mapping[str, Any]:
        """Return how the launcher starts ranks in the workers, that it waits for them, and how often it is tried."""
        return {
            "launcherCreationPolicy": "WaitForWorkersReady",
            "mpiImplementation": "OpenMPI",
            "slotsPerWorker": run.roles[0].processes,
            "sshAuthMountPath": KEYS,
            "runPolicy": run_policy(run, backoff=run.sizing.restarts.value),
        }

    def pods(self, run: Resolved) -> dict[str, Any]:
        """Return launcher and workers; the launcher is a Job, which keeps the deadline by itself."""
        names = self.replicas
        return {
            names[role.name]: replica(run, role, restart="Never" if role.name == LAUNCHER else "OnFailure")
            for role in run.roles
        }


KIND = MPIJob()
