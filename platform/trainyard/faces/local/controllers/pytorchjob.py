"""PyTorchJob: a master and workers, and what torch and torchrun are told.

Facts: training-operator v1.9.4 pkg/controller.v1/pytorch.
"""

from __future__ import annotations

from trainyard.faces.local.controllers.base import Object, add_to_all, variable
from trainyard.faces.local.controllers.replicas import MASTER, WORKER, Replicas


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
        value = self.processes(job)
        world = nodes * int(value) if value and value.lstrip("+-").isdigit() else nodes
        told = [variable("PYTHONUNBUFFERED", 1)]
        if MASTER in self.replicas(job):
            port, host = self.port_of(job, MASTER), self.host(job, MASTER, 0)
            rank = index + (role == WORKER)
            told += [variable("MASTER_PORT", port), variable("PET_MASTER_PORT", port)]
            told += [variable("MASTER_ADDR", host), variable("PET_MASTER_ADDR", host)]
            told += [variable("WORLD_SIZE", world), variable("RANK", rank), variable("PET_NODE_RANK", rank)]
        if value:
            told.append(variable("PET_NPROC_PER_NODE", value))
        told += self.elastic(job) if job["spec"].get("elasticPolicy") else [variable("PET_NNODES", nodes)]
        add_to_all(spec["containers"], *told)
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
        """Return the variables that an elastic policy adds."""
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
            text = ",".join(f"{item['key']}={item['value']}" for item in policy["rdzvConf"])
            told.append(variable("PET_RDZV_CONF", text))
        return [*told, *([variable("PET_STANDALONE", "")] if policy.get("standalone") else [])]


def wait(master: str) -> Object:
    """Return the container in which a worker waits for its master's name; the operator's asks a name server."""
    script = f"until getent ahosts {master}; do sleep 2; done"
    return {"name": "init-pytorch", "image": "alpine:3.10", "command": ["sh", "-c", script]}


CONTROLLERS = (PyTorchJob(),)
