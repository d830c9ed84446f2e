"""The training operator's kinds but MPIJob: a pod and a Service for every replica, and what each kind tells them.

Facts: training-operator v1.9.4 pkg/controller.v1/common/pod.go and the folder of each kind; defaults of
pkg/apis/kubeflow.org/v1, which the operator works out in memory and never stores.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from trainyard.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    add,
    count,
    from_field,
    name_of,
    namespace_of,
    pod,
    service,
    variable,
)

PREFIX = "training.kubeflow.org/"
MASTER, WORKER, CHIEF = "Master", "Worker", "Chief"


class Replicas(Controller):
    """Replica types under one field, which differ in what they tell their containers."""

    group = "kubeflow.org"
    field: ClassVar[str]
    container: ClassVar[str]
    """Name of the container that trains."""
    port_name: ClassVar[str]
    port: ClassVar[int]
    restart: ClassVar[str]
    """Restart policy where none is said."""
    types: ClassVar[tuple[str, ...]]

    @abstractmethod
    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add what the operator tells the containers of a pod."""

    def master(self, job: Object, role: str, index: int) -> bool:
        """Whether a pod has the label of the master."""
        if MASTER in self.replicas(job):
            return role == MASTER
        return role == WORKER and index == 0

    def replicas(self, job: Object) -> dict[str, Object]:
        """Return the replica types in the order of the kind, under their own spelling."""
        written: Mapping[str, Object] = job["spec"].get(self.field) or {}
        by_word = {name.lower(): replica for name, replica in written.items()}
        return {name: by_word[name.lower()] for name in self.types if by_word.get(name.lower())}

    def counts(self, job: Object) -> dict[str, int]:
        """Return how many pods each type has."""
        return {name: count(replica.get("replicas"), 1) for name, replica in self.replicas(job).items()}

    def host(self, job: Object, role: str, index: int) -> str:
        """Return the name of a pod, and of its Service."""
        return f"{name_of(job)}-{role.lower()}-{index}"

    def port_of(self, job: Object, role: str) -> int:
        """Return where the training container of a type listens; its own, or the kind's."""
        containers = self.replicas(job)[role]["template"]["spec"]["containers"]
        found = next((each for each in containers if each.get("name") == self.container), None)
        if found is None:
            raise RunError(f"{self.kind} {name_of(job)!r} has no container {self.container!r} in {role}; name one so")
        ports = (each for each in found.get("ports") or () if each.get("name") == self.port_name)
        return next((int(each["containerPort"]) for each in ports), self.port)

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return every replica's pod, and a Service for each."""
        pods = tuple(self.replica(job, role, index) for role, many in self.counts(job).items() for index in range(many))
        return Made(pods, tuple(self.services(job, pods)))

    def replica(self, job: Object, role: str, index: int) -> Pod:
        """Return one pod."""
        replica = self.replicas(job)[role]
        labels = {
            f"{PREFIX}job-name": name_of(job),
            f"{PREFIX}operator-name": f"{self.kind.lower()}-controller",
            f"{PREFIX}replica-type": role.lower(),
            f"{PREFIX}replica-index": str(index),
            **({f"{PREFIX}job-role": "master"} if self.master(job, role, index) else {}),
        }
        made = pod(replica["template"], self.host(job, role, index), namespace_of(job), labels=labels)
        spec = made["spec"]
        policy = replica.get("restartPolicy") or self.restart
        spec["restartPolicy"] = "Never" if policy == "ExitCode" else policy
        trains = next(
            (each for each in spec["containers"] if each.get("name") == self.container), spec["containers"][0]
        )
        if all(each.get("name") != self.port_name for each in trains.get("ports") or ()):
            own = {"name": self.port_name, "containerPort": self.port}
            trains["ports"] = [*(trains.get("ports") or ()), own]
        self.tell(job, role, index, spec)
        return Pod(role.lower(), index, made, name_of(job))

    def services(self, job: Object, pods: tuple[Pod, ...]) -> Iterator[Object]:
        """Yield a Service for each pod, called as the pod."""
        for each in pods:
            labels = each.value["metadata"]["labels"]
            keys = ("job-name", "operator-name", "replica-type", "replica-index")
            selector = {f"{PREFIX}{key}": labels[f"{PREFIX}{key}"] for key in keys}
            trains = next((one for one in each.spec["containers"] if one["name"] == self.container), None)
            ports = [
                {"name": port["name"], "port": port["containerPort"]}
                for port in (trains or {}).get("ports") or ()
                if port.get("name")
            ]
            yield service(each.name, namespace_of(job), selector, ports)


class PyTorchJob(Replicas):
    """A master and workers, or workers that meet by c10d."""

    kind = "PyTorchJob"
    field = "pytorchReplicaSpecs"
    container, port_name, port = "pytorch", "pytorchjob-port", 23456
    restart = "OnFailure"
    types = (MASTER, WORKER)

    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add torch's variables, and to workers the wait for their master."""
        nodes = sum(self.counts(job).values())
        each = self.processes(job)
        world = nodes * int(each) if each and each.lstrip("+-").isdigit() else nodes
        told = [variable("PYTHONUNBUFFERED", 1)]
        if MASTER in self.replicas(job):
            port, host = self.port_of(job, MASTER), self.host(job, MASTER, 0)
            rank = index + (role == WORKER)
            told += [variable("MASTER_PORT", port), variable("PET_MASTER_PORT", port)]
            told += [variable("MASTER_ADDR", host), variable("PET_MASTER_ADDR", host)]
            told += [variable("WORLD_SIZE", world), variable("RANK", rank), variable("PET_NODE_RANK", rank)]
        if each:
            told.append(variable("PET_NPROC_PER_NODE", each))
        told += self.elastic(job) if job["spec"].get("elasticPolicy") else [variable("PET_NNODES", nodes)]
        for container in spec["containers"]:
            add(container, *told)
        if MASTER in self.replicas(job) and role == WORKER:
            spec["initContainers"] = [*(spec.get("initContainers") or ()), wait(self.host(job, MASTER, 0))]

    @staticmethod
    def processes(job: Object) -> str:
        """Return `nprocPerNode`, which is `auto` unless an elastic policy says another."""
        said = job["spec"].get("nprocPerNode")
        if said is None and (job["spec"].get("elasticPolicy") or {}).get("nProcPerNode") is None:
            return "auto"
        return "" if said is None else str(said)

    def elastic(self, job: Object) -> list[Object]:
        """Return what an elastic policy adds."""
        policy: Object = job["spec"]["elasticPolicy"]
        least, most = policy.get("minReplicas"), policy.get("maxReplicas")
        if least is None and most is None:
            least = most = self.counts(job)[WORKER]
        least, most = (most if least is None else least), (least if most is None else most)
        host = policy.get("rdzvHost") or self.host(job, WORKER, 0)
        port = policy.get("rdzvPort") or self.port_of(job, WORKER)
        told = [
            variable("PET_RDZV_ENDPOINT", f"{host}:{port}"),
            variable("PET_RDZV_BACKEND", policy.get("rdzvBackend") or "c10d"),
            variable("PET_NNODES", f"{least}:{most}"),
        ]
        for name, field in (("PET_MAX_RESTARTS", "maxRestarts"), ("PET_NPROC_PER_NODE", "nProcPerNode")):
            told += [variable(name, policy[field])] if policy.get(field) is not None else []
        told += [variable("PET_RDZV_ID", policy["rdzvId"])] if policy.get("rdzvId") is not None else []
        if policy.get("rdzvConf"):
            text = ",".join(f"{each['key']}={each['value']}" for each in policy["rdzvConf"])
            told.append(variable("PET_RDZV_CONF", text))
        return [*told, *([variable("PET_STANDALONE", "")] if policy.get("standalone") else [])]


def wait(master: str) -> Object:
    """Return the container in which a worker waits for its master's name; the operator's asks a name server."""
    script = f"until getent ahosts {master}; do sleep 2; done"
    return {"name": "init-pytorch", "image": "alpine:3.10", "command": ["sh", "-c", script]}


class TFJob(Replicas):
    """A TensorFlow cluster, each task told of all."""

    kind = "TFJob"
    field = "tfReplicaSpecs"
    container, port_name, port = "tensorflow", "tfjob-port", 2222
    restart = "Never"
    types = (CHIEF, MASTER, "PS", WORKER, "Evaluator")

    def master(self, job: Object, role: str, index: int) -> bool:
        """Whether a pod has the label of the master: the chief, or the first worker without one."""
        if {CHIEF, MASTER} & set(self.replicas(job)):
            return role in {CHIEF, MASTER}
        return role == WORKER and index == 0

    def tell(self, job: Object, role: str, index: int, spec: Object) -> None:
        """Add TF_CONFIG, where there is more than one replica."""
        counts = self.counts(job)
        if sum(counts.values()) == 1:
            return
        ending = f"{namespace_of(job)}.svc"
        cluster = {
            name.lower(): [f"{self.host(job, name, each)}.{ending}:{self.port_of(job, name)}" for each in range(many)]
            for name, many in counts.items()
        }
        task = {"type": role.lower(), "index": index}
        config: Object = {"cluster": dict(sorted(cluster.items())), "task": task, "environment": "cloud"}
        if job["spec"].get("enableDynamicWorker"):
            config = {"cluster": sparse(cluster, role.lower(), index), "task": task}
        for container in spec["containers"]:
            if container.get("name") == self.container:
                add(container, variable("TF_CONFIG", json.dumps(config, separators=(",", ":"))))
                break


def sparse(cluster: Mapping[str, list[str]], role: str, index: int) -> Object:
    """Return what a task knows of a cluster whose workers come and go: itself, and as a worker all servers."""
    if role == "ps":
        return {"worker": {}, "ps": [cluster[role][index]]}
    if role == "worker":
        return {"worker": {str(index): cluster[role][index]}, "ps": cluster.get("ps")}
    return {"worker": {}, "ps": []}


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
            raise RunError(f"XGBoostJob {name_of(job)!r} has no Master, without which the operator makes no pods")
        total = sum(counts.values())
        told = [
            variable("MASTER_PORT", self.port_of(job, MASTER)),
            variable("MASTER_ADDR", self.host(job, MASTER, 0)),
            variable("WORLD_SIZE", total),
            variable("RANK", index + (counts[MASTER] if role == WORKER else 0)),
            variable("PYTHONUNBUFFERED", 1),
        ]
        if total > 1:
            addresses = ",".join(self.host(job, WORKER, each) for each in range(total - 1))
            told += [variable("WORKER_PORT", self.port_of(job, WORKER)), variable("WORKER_ADDRS", addresses)]
        for container in spec["containers"]:
            add(container, *told)


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
        for container in spec["containers"]:
            add(container, *told)


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
        for container in spec["containers"]:
            add(container, *told)


CONTROLLERS: tuple[Replicas, ...] = (PyTorchJob(), TFJob(), XGBoostJob(), PaddleJob(), JAXJob())


def of(value: Mapping[str, Any]) -> Replicas:
    """Return the kind of an object that has replicas."""
    return next(each for each in CONTROLLERS if each.takes(value))
