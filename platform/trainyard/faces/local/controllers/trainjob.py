"""TrainJob: a JobSet made of a runtime's template, and what the runtime's machine learning policy adds.

Facts: trainer v2.3.0 pkg/runtime/core/trainingruntime.go, pkg/runtime/framework/plugins.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from trainyard.base.labels import JOB_INDEX
from trainyard.base.quantities import Quantity
from trainyard.faces.local.controllers import jobset
from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    RunError,
    config_map,
    count,
    from_field,
    name_of,
    namespace_of,
    secret,
    upsert,
    variable,
)
from trainyard.faces.local.controllers.mpijob import FOLDER, PRIVATE, PUBLIC, SECRET_TYPE, SLOW
from trainyard.upstream.workloads import carrier
from trainyard.upstream.workloads.merge import merge

PORT = 29500
NODE, LAUNCHER, TRAINER = "node", "launcher", "trainer"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
"""Label of the replicated job that a TrainJob's `trainer` is about."""

RANK = f"metadata.annotations['{JOB_INDEX}']"
STORAGE = "STORAGE_URI"
INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}
KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


def runtime_of(job: Object, objects: Objects) -> Object:
    """Return the runtime that a TrainJob names."""
    ref = job["spec"].get("runtimeRef") or {}
    kind, name = ref.get("kind") or KINDS[0], str(ref.get("name"))
    found = objects.find(kind, namespace_of(job), name)
    if found is None:
        raise RunError(f"TrainJob {name_of(job)!r} names {kind} {name!r}, which is missing here; add its file")
    return found


class Plan:
    """A TrainJob with its runtime: the JobSet as it comes to be."""

    def __init__(self, job: Object, runtime: Object) -> None:
        self.job, self.trainer = job, job["spec"].get("trainer") or {}
        spec = copy.deepcopy(runtime["spec"])
        self.policy: Object = spec.get("mlPolicy") or {}
        self.mpi: Object = self.policy.get("mpi") or {}
        self.template: Object = spec["template"]
        for patch in job["spec"].get("runtimePatches") or ():
            self.patch((patch.get("trainingRuntimeSpec") or {}).get("template") or {})
        self.jobs: list[Object] = self.template["spec"]["replicatedJobs"]
        self.counts = {replicated["name"]: self.size(replicated) for replicated in self.jobs}

    def patch(self, template: Object) -> None:
        """Merge a patch of the template, lists by their own keys."""
        row = carrier("jobset.x-k8s.io", "JobSet")
        lists = row.lists if row else {}
        self.template = merge(self.template, template, lists=lists)

    def trains(self, replicated: Object) -> bool:
        """Whether a replicated job is the one that `trainer` is about."""
        labels = (replicated["template"].get("metadata") or {}).get("labels") or {}
        return labels.get(STEP) == TRAINER

    @property
    def launcher_is_node(self) -> bool:
        """Whether ranks run in the launcher too."""
        return bool(self.mpi.get("runLauncherAsNode"))

    def size(self, replicated: Object) -> int:
        """Return how many pods a replicated job has."""
        asked = self.trainer.get("numNodes")
        if "mpi" in self.policy:
            if replicated["name"] == NODE and asked is not None:
                return max(int(asked) - 1, 1) if self.launcher_is_node else int(asked)
            return count(replicated["template"]["spec"].get("parallelism"), 1) if not self.trains(replicated) else 1
        if self.trains(replicated):
            return int(asked) if asked is not None else count(self.policy.get("numNodes"), 1)
        return count(replicated["template"]["spec"].get("parallelism"), 1)

    def containers(self) -> Iterator[tuple[Object, Object]]:
        """Yield containers called `node`, each with its replicated job."""
        for replicated in self.jobs:
            for container in replicated["template"]["spec"]["template"]["spec"]["containers"]:
                if container["name"] == NODE:
                    yield replicated, container

    def size_containers(self) -> None:
        """Give the containers of nodes what the TrainJob asks for a node."""
        asked: Object = self.trainer.get("resourcesPerNode") or {}
        for replicated, container in self.containers() if asked else ():
            if self.trains(replicated) or (self.launcher_is_node and replicated["name"] == NODE):
                own = container.get("resources") or {}
                both = {part: {**(own.get(part) or {}), **(asked.get(part) or {})} for part in ("limits", "requests")}
                container["resources"] = {part: amounts for part, amounts in both.items() if amounts}

    def resources(self) -> Mapping[str, Any]:
        """Return the resources of a node: limits before requests."""
        own: Object = next((found.get("resources") or {} for job, found in self.containers() if self.trains(job)), {})
        said: Object = self.trainer.get("resourcesPerNode") or own
        return {**(said.get("requests") or {}), **(said.get("limits") or {})}

    @property
    def gpus(self) -> int:
        """GPUs of a node."""
        found = (amount for name, amount in self.resources().items() if "gpu" in name.lower())
        return next((Quantity.parse(amount).value() for amount in found), 0)

    def build(self) -> Object:
        """Return the JobSet."""
        self.size_containers()
        told = self.torch_variables()
        env = self.trainer.get("env") or []
        early = not self.policy.keys() & {"jax", "mpi", "xgboost"}
        for replicated, container in self.containers():
            own = container.get("env") or []
            if self.trains(replicated):
                for field in ("image", "command", "args"):
                    if self.trainer.get(field) is not None:
                        container[field] = self.trainer[field]
                own = upsert(own, *env) if early and self.trainer else own
                own = upsert(own, *told) if self.job["spec"].get("trainer") is not None else own
                if told and "mpi" not in self.policy and self.job["spec"].get("trainer") is not None:
                    container["ports"] = upsert(
                        container.get("ports") or [], {"containerPort": PORT}, key="containerPort"
                    )
            if "mpi" in self.policy and replicated["name"] in (NODE, LAUNCHER):
                own = upsert(own, *self.keys(replicated, container))
            if self.trains(replicated) or (self.launcher_is_node and replicated["name"] == NODE):
                own = upsert(own, *env)
            if own:
                container["env"] = own
        self.initialize()
        for replicated in self.jobs:
            spec = replicated["template"]["spec"]
            many = self.counts[replicated["name"]]
            replicated.update({"replicas": 1} if self.trains(replicated) else {})
            spec |= {"parallelism": many, "completions": many, "completionMode": "Indexed"}
        metadata = {"name": name_of(self.job), "namespace": namespace_of(self.job)}
        spec = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": self.template["spec"]}
        return {**spec, "metadata": metadata}

    @property
    def first(self) -> str:
        """Address of the first node."""
        name = name_of(self.job)
        return f"{name}-{NODE}-0-0.{name}"

    def torch_variables(self) -> list[Object]:
        """Return the variables of the policy."""
        nodes = next((self.counts[job["name"]] for job in self.jobs if self.trains(job)), 1)
        if "torch" in self.policy:
            return [
                variable("PET_NNODES", nodes),
                variable("PET_NPROC_PER_NODE", self.processes()),
                from_field("PET_NODE_RANK", RANK),
                variable("PET_MASTER_ADDR", self.first),
                variable("PET_MASTER_PORT", PORT),
            ]
        if "jax" in self.policy:
            rank = from_field("JAX_PROCESS_ID", RANK)
            address = variable("JAX_COORDINATOR_ADDRESS", f"{self.first}:{PORT}")
            return [variable("JAX_NUM_PROCESSES", nodes), rank, address]
        if "xgboost" in self.policy:
            tracker = [variable("DMLC_TRACKER_URI", self.first), variable("DMLC_TRACKER_PORT", PORT)]
            many = variable("DMLC_NUM_WORKER", nodes * max(1, self.gpus))
            return [*tracker, from_field("DMLC_TASK_ID", RANK), many]
        return []

    def processes(self) -> str:
        """Return processes a node for torchrun: as said, one a GPU by `auto`, or one a CPU."""
        said = self.trainer.get("numProcPerNode")
        if said is not None or self.gpus:
            return str(said if said is not None else "auto")
        cpu = self.resources().get("cpu")
        return str(max(1, ceil(Quantity.parse(cpu).amount)) if cpu is not None else 1)

    @property
    def slots(self) -> int:
        """Ranks a node for MPI; one of the runtime means one a GPU."""
        said = self.trainer.get("numProcPerNode")
        own = count(self.mpi.get("numProcPerNode"), 1)
        return int(said) if said is not None else self.gpus if own == 1 and self.gpus > 1 else own

    def keys(self, replicated: Object, container: Object) -> Sequence[Object]:
        """Mount the keys, to the launcher the hosts too, and return what the launcher is told."""
        spec = replicated["template"]["spec"]["template"]["spec"]
        name = name_of(self.job)
        items = [{"key": PRIVATE, "path": "id_rsa", "mode": 0o640}]
        items += [{"key": PUBLIC, "path": path, "mode": 0o644} for path in ("id_rsa.pub", "authorized_keys")]
        source = {"secretName": f"{name}-mpi-ssh-auth", "defaultMode": 0o400, "items": items}
        volumes = [{"name": "mpi-ssh-auth", "secret": source}]
        mounts = [{"name": "mpi-ssh-auth", "mountPath": self.mpi.get("sshAuthMountPath") or "/root/.ssh"}]
        led = replicated["name"] == LAUNCHER
        if led:
            hosts = {"name": f"{name}-mpi-hostfile", "items": [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]}
            volumes.append({"name": "mpi-hostfile", "configMap": hosts})
            mounts.append({"name": "mpi-hostfile", "mountPath": FOLDER})
        spec["volumes"] = upsert(spec.get("volumes") or [], *volumes)
        container["volumeMounts"] = upsert(container.get("volumeMounts") or [], *mounts, key="mountPath")
        if not led:
            return ()
        return (
            variable("OMPI_MCA_orte_default_hostfile", f"{FOLDER}/hostfile"),
            variable("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
            variable("OMPI_MCA_orte_set_default_slots", self.slots),
            variable("OMPI_MCA_plm_rsh_args", SLOW),
        )

    def initialize(self) -> None:
        """Tell the containers that fetch data and models from where."""
        said = self.job["spec"].get("initializer") or {}
        for replicated in self.jobs:
            labels = (replicated["template"].get("metadata") or {}).get("labels") or {}
            what = said.get(INITIALIZERS.get(labels.get(STEP, ""), "")) or {}
            for container in replicated["template"]["spec"]["template"]["spec"]["containers"]:
                if what and container["name"] == labels[STEP]:
                    source = [variable(STORAGE, what["storageUri"])] if what.get("storageUri") else []
                    container["env"] = upsert(container.get("env") or [], *source, *(what.get("env") or ()))
                    if what.get("secretRef"):
                        ref = {"secretRef": {"name": what["secretRef"]["name"]}}
                        container["envFrom"] = [*(container.get("envFrom") or ()), ref]

    def mpi_objects(self) -> list[Object]:
        """Return the hosts and the Secret of MPI."""
        if "mpi" not in self.policy:
            return []
        name, namespace = name_of(self.job), namespace_of(self.job)
        hosts = [
            f"{name}-{job['name']}-0-{index}.{name}"
            for job in self.jobs
            if job["name"] == NODE or (self.launcher_is_node and job["name"] == LAUNCHER)
            for index in range(self.counts[job["name"]])
        ]
        data = {"hostfile": "".join(f"{host} slots={self.slots}\n" for host in hosts)}
        keys = secret(f"{name}-mpi-ssh-auth", namespace, PRIVATE, PUBLIC, of=SECRET_TYPE)
        return [config_map(f"{name}-mpi-hostfile", namespace, data), keys]


class TrainJob(Controller):
    """A JobSet by another name."""

    kind = "TrainJob"
    group = "trainer.kubeflow.org"

    def make(self, job: Object, objects: Objects) -> Made:
        """Return the pods of the JobSet's controller, and the objects beside them."""
        plan = Plan(job, runtime_of(job, objects))
        made = jobset.make(plan.build())
        return Made(made.pods, (*made.objects, *plan.mpi_objects()))


CONTROLLERS = (TrainJob(),)
