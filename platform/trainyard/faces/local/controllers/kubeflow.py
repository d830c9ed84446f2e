"""The training operator's small kinds, XGBoostJob, PaddleJob and JAXJob: what each tells its pods.

Facts: training-operator v1.9.4, the folder of each kind below pkg/controller.v1.
"""

from __future__ import annotations

from trainyard.faces.local.controllers.base import Object, RunError, add_to_all, from_field, name_of, variable
from trainyard.faces.local.controllers.replicas import MASTER, WORKER, Replicas


class XGBoostJob(Replicas):
    """A master with a tracker, and workers."""

    kind = "XGBoostJob"
    field = "xgbReplicaSpecs"
    container, port_name, port = "xgboost", "xgboostjob-port", 9999
    restart = "Never"
    types = (MASTER, WORKER)

    def master(self, _job: Object, role: str, _index: int) -> bool:
        """Whether a pod has the label of the master."""
        return role == MASTER

    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add the tracker's address, the ranks, and the workers' addresses."""
        counts = self.counts(job)
        if MASTER not in counts:
            raise RunError(f"XGBoostJob {name_of(job)!r} has no Master, so the operator creates no pods")
        total = sum(counts.values())
        told = [
            variable("MASTER_PORT", self.port_of(job, MASTER)),
            variable("MASTER_ADDR", self.host(job, MASTER, 0)),
            variable("WORLD_SIZE", total),
            variable("RANK", index + (counts[MASTER] if role == WORKER else 0)),
            variable("PYTHONUNBUFFERED", 1),
        ]
        if total > 1:
            addresses = ",".join(self.host(job, WORKER, one_index) for one_index in range(total - 1))
            told += [variable("WORKER_PORT", self.port_of(job, WORKER)), variable("WORKER_ADDRS", addresses)]
        add_to_all(spec["containers"], *told)


class PaddleJob(Replicas):
    """Trainers that meet at the first of them, or servers and trainers."""

    kind = "PaddleJob"
    field = "paddleReplicaSpecs"
    container, port_name, port = "paddle", "master", 36543
    restart = "OnFailure"
    types = (MASTER, WORKER)

    def master(self, _job: Object, role: str, _index: int) -> bool:
        """Whether a pod has the label of the master."""
        return role == MASTER

    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add where all meet; the first of them knows only its own address."""
        led = MASTER in self.replicas(job)
        first = MASTER if led else WORKER
        port = self.port_of(job, first)
        told = [
            variable("PYTHONUNBUFFERED", 1),
            variable("PADDLE_JOB_ID", name_of(job)),
            variable("PADDLE_NNODES", sum(self.counts(job).values())),
        ]
        if role == first and index == 0:
            told.append(from_field("POD_IP_DUMMY", "status.podIP"))
            told.append(variable("PADDLE_MASTER", f"$(POD_IP_DUMMY):{port}"))
        else:
            told.append(variable("PADDLE_MASTER", f"{self.host(job, first, 0)}:{port}"))
        if led:
            told.append(variable("PADDLE_SERVER_NUM" if role == MASTER else "PADDLE_TRAINER_NUM", 1))
        add_to_all(spec["containers"], *told)


class JAXJob(Replicas):
    """Processes of JAX, which the first coordinates."""

    kind = "JAXJob"
    field = "jaxReplicaSpecs"
    container, port_name, port = "jax", "jaxjob-port", 6666
    restart = "Never"
    types = (WORKER,)

    def master(self, _job: Object, _role: str, index: int) -> bool:
        """Whether a pod has the label of the master."""
        return index == 0

    def tell(self, job: Object, _role: str, index: int, spec: Object) -> None:
        """Add the coordinator's address, how many there are, and which this is."""
        told = (
            variable("PYTHONUNBUFFERED", 1),
            variable("COORDINATOR_PORT", self.port_of(job, WORKER)),
            variable("COORDINATOR_ADDRESS", self.host(job, WORKER, 0)),
            variable("NUM_PROCESSES", sum(self.counts(job).values())),
            variable("PROCESS_ID", index),
        )
        add_to_all(spec["containers"], *told)


CONTROLLERS = (XGBoostJob(), PaddleJob(), JAXJob())
