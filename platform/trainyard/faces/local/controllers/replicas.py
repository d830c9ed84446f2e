"""What the training operator's kinds but MPIJob share: replica types, of each of whose pods there is a Service.

Facts: training-operator v1.9.4 pkg/controller.v1/common/pod.go; defaults of pkg/apis/kubeflow.org/v1, which the
operator works out in memory and never stores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    count,
    name_of,
    namespace_of,
    pod,
    service,
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
        found = next((container for container in containers if container.get("name") == self.container), None)
        if found is None:
            raise RunError(f"{self.kind} {name_of(job)!r} has no container {self.container!r} in {role}; add one")
        ports = (port for port in found.get("ports") or () if port.get("name") == self.port_name)
        return next((int(port["containerPort"]) for port in ports), self.port)

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
            (container for container in spec["containers"] if container.get("name") == self.container),
            spec["containers"][0],
        )
        if all(port.get("name") != self.port_name for port in trains.get("ports") or ()):
            own = {"name": self.port_name, "containerPort": self.port}
            trains["ports"] = [*(trains.get("ports") or ()), own]
        self.tell(job, role, index, spec)
        return Pod(role.lower(), index, made, name_of(job))

    def services(self, job: Object, pods: tuple[Pod, ...]) -> Iterator[Object]:
        """Yield a Service for each pod, called as the pod."""
        for one_pod in pods:
            labels = one_pod.value["metadata"]["labels"]
            keys = ("job-name", "operator-name", "replica-type", "replica-index")
            selector = {f"{PREFIX}{key}": labels[f"{PREFIX}{key}"] for key in keys}
            trains = next((one for one in one_pod.spec["containers"] if one["name"] == self.container), None)
            ports = [
                {"name": port["name"], "port": port["containerPort"]}
                for port in (trains or {}).get("ports") or ()
                if port.get("name")
            ]
            yield service(one_pod.name, namespace_of(job), selector, ports)
