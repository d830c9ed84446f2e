"""MPIJob: workers, a Job with the pod that starts the ranks, a list of hosts and keys between them.

Facts: mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go, pkg/apis/kubeflow/v2beta1/default.go; of version 1,
training-operator v1.9.4 pkg/controller.v1/mpi.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    add,
    config_map,
    count,
    has,
    mount,
    name_of,
    namespace_of,
    pod,
    secret,
    service,
    variable,
)
from trainyard.faces.local.controllers.job import pods_of
from trainyard.faces.local.controllers.replicas import PREFIX

FOLDER = "/etc/mpi"
KEYS = "/root/.ssh"
SLOW = "-o ConnectionAttempts=10"
READ, RUN = 0o444, 0o555
SECRET_TYPE = "kubernetes.io/ssh-auth"  # noqa: S105 - a type, not a secret
PRIVATE, PUBLIC = "ssh-privatekey", "ssh-publickey"
BLANK = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
"""Set to nothing in a launcher that is no worker, so that it sees no GPUs."""


def replica(job: Object, role: str) -> Object:
    """Return a replica type, which is empty where it is not written."""
    found: Object = (job["spec"].get("mpiReplicaSpecs") or {}).get(role) or {}
    return found


def workers(job: Object) -> int:
    """Return how many workers there are."""
    found = replica(job, "Worker")
    return count(found.get("replicas"), 0) if found else 0


def variables(job: Object) -> list[Object]:
    """Return the variables for the launcher's MPI."""
    hosts, slots = f"{FOLDER}/hostfile", count(job["spec"].get("slotsPerWorker"), 1)
    match job["spec"].get("mpiImplementation") or "OpenMPI":
        case "Intel":
            told = [variable("I_MPI_HYDRA_HOST_FILE", hosts), variable("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SLOW)]
            told.append(variable("I_MPI_PERHOST", slots))
        case "MPICH":
            told = [variable("HYDRA_HOST_FILE", hosts), variable("HYDRA_LAUNCH_EXTRA_ARGS", SLOW)]
        case _:
            told = [variable("OMPI_MCA_orte_keep_fqdn_hostnames", "true")]
            told += [variable("OMPI_MCA_orte_default_hostfile", hosts), variable("OMPI_MCA_plm_rsh_args", SLOW)]
            told.append(variable("OMPI_MCA_orte_set_default_slots", slots))
    blank = [] if is_worker(job) else [variable(name, "") for name in BLANK]
    return [variable("K_MPI_JOB_ROLE", "launcher"), *told, *blank]


def is_worker(job: Object) -> bool:
    """Whether the launcher has ranks too."""
    return bool(job["spec"].get("runLauncherAsWorker"))


def restart(spec: Object, of: Object, default: str) -> None:
    """Write the replica's restart policy into a pod."""
    policy = of.get("restartPolicy") or default
    spec["restartPolicy"] = "Never" if policy == "ExitCode" else policy


class MPIJob(Controller):
    """Version 2beta1: ranks start over ssh."""

    kind = "MPIJob"
    group = "kubeflow.org"
    versions = frozenset({"v2beta1"})

    def labels(self, job: Object, role: str) -> dict[str, str]:
        """Return the labels of a role's pods."""
        names = {"job-name": name_of(job), "job-role": role, "operator-name": "mpi-operator"}
        return {f"{PREFIX}{name}": value for name, value in names.items()}

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return launcher and workers, their Service, the list of hosts and the Secret."""
        name, namespace = name_of(job), namespace_of(job)
        if not replica(job, "Launcher"):
            raise RunError(f"MPIJob {name!r} has no Launcher, so the operator creates no pods")
        hosts = [f"{name}-launcher"] if is_worker(job) else []
        hosts += [f"{name}-worker-{index}" for index in range(workers(job))]
        domain = f"{name}.{namespace}.svc"
        slots = count(job["spec"].get("slotsPerWorker"), 1)
        form = " slots={}" if (job["spec"].get("mpiImplementation") or "OpenMPI") == "OpenMPI" else ":{}"
        running = sorted(hosts[is_worker(job) :])
        data = {
            "hostfile": "".join(f"{host}.{domain}{form.format(slots)}\n" for host in hosts),
            "discover_hosts.sh": "#!/bin/sh\n"
            + "".join(f"echo {host}.{domain}\n" for host in (*hosts[: is_worker(job)], *running)),
        }
        selector = {f"{PREFIX}{key}": value for key, value in (("job-name", name), ("operator-name", "mpi-operator"))}
        beside = (
            service(name, namespace, selector, unready=is_worker(job)),
            config_map(f"{name}-config", namespace, data),
            secret(f"{name}-ssh", namespace, PRIVATE, PUBLIC, of=SECRET_TYPE),
        )
        return Made((*self.launcher(job), *self.workers(job)), beside)

    def launcher(self, job: Object) -> Iterator[Pod]:
        """Yield the pod of the Job that starts the ranks."""
        found = replica(job, "Launcher")
        name = name_of(job)
        index = {f"{PREFIX}replica-index": "0"} if is_worker(job) else {}
        made = pod(found["template"], f"{name}-launcher", namespace_of(job))
        made["metadata"]["labels"] |= {**self.labels(job, "launcher"), **index}
        spec, first = made["spec"], made["spec"]["containers"][0]
        spec |= {"hostname": f"{name}-launcher", "subdomain": name}
        add(first, *variables(job))
        self.keys(job, spec)
        restart(spec, found, "OnFailure")
        items = [{"key": "hostfile", "mode": READ, "path": "hostfile"}]
        items.append({"key": "discover_hosts.sh", "mode": RUN, "path": "discover_hosts.sh"})
        volume = {"name": "mpi-job-config", "configMap": {"name": f"{name}-config", "items": items}}
        mount(spec, first, volume, FOLDER)
        policy = job["spec"].get("runPolicy") or {}
        inner: dict[str, Any] = {"template": {"metadata": made["metadata"], "spec": spec}}
        inner |= {"backoffLimit": policy["backoffLimit"]} if policy.get("backoffLimit") is not None else {}
        metadata = {"name": f"{name}-launcher", "namespace": namespace_of(job)}
        yield from pods_of({"metadata": metadata, "spec": inner}, "launcher")

    def workers(self, job: Object) -> Iterator[Pod]:
        """Yield the pods that ranks run in; one that says neither command nor arguments runs sshd."""
        found, name = replica(job, "Worker"), name_of(job)
        for index in range(workers(job)):
            labels = {**self.labels(job, "worker"), f"{PREFIX}replica-index": str(index + is_worker(job))}
            made = pod(found["template"], f"{name}-worker-{index}", namespace_of(job), labels=labels)
            spec, first = made["spec"], made["spec"]["containers"][0]
            spec |= {"hostname": made["metadata"]["name"], "subdomain": name}
            dns = spec.get("dnsConfig") or {}
            search = f"{name}.{namespace_of(job)}.svc.cluster.local"
            spec["dnsConfig"] = {**dns, "searches": [*(dns.get("searches") or ()), search]}
            restart(spec, found, "Never")
            if not first.get("command") and not first.get("args"):
                first["command"] = ["/usr/sbin/sshd", "-De"]
            add(first, variable("K_MPI_JOB_ROLE", "worker"))
            self.keys(job, spec)
            yield Pod("worker", index, made, name)

    @staticmethod
    def keys(job: Object, spec: Object) -> None:
        """Mount the keys into the first container; below root's home nobody else may read them."""
        folder = job["spec"].get("sshAuthMountPath") or KEYS
        items = [{"key": PRIVATE, "path": "id_rsa"}, {"key": PUBLIC, "path": "id_rsa.pub"}]
        items.append({"key": PUBLIC, "path": "authorized_keys"})
        source: Object = {"secretName": f"{name_of(job)}-ssh", "items": items}
        source |= {"defaultMode": 0o600} if folder == KEYS else {}
        mount(spec, spec["containers"][0], {"name": "ssh-auth", "secret": source}, folder)


KUBECTL = "/opt/kube"
VOLUME = "mpi-job-config"


class MPIJobV1(Controller):
    """Version 1, of the training operator: ranks start by `kubectl exec`."""

    kind = "MPIJob"
    group = "kubeflow.org"
    versions = frozenset({"v1"})

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return launcher and workers, and the ConfigMap of hosts and the script that enters a pod."""
        name, namespace, spec = name_of(job), namespace_of(job), job["spec"]
        if not replica(job, "Launcher"):
            raise RunError(f"MPIJob {name!r} has no Launcher, so the operator creates no pods")
        container = f" --container {spec['mainContainer']}" if spec.get("mainContainer") else ""
        enter = f'{KUBECTL}/kubectl exec ${{POD_NAME}}{container} -- /bin/sh -c "$*"'
        hosts = [f"{name}-launcher"] if self.has_gpus(job) else []
        hosts += [f"{name}-worker-{index}" for index in range(workers(job))]
        slots = count(spec.get("slotsPerWorker"), 1)
        data = {
            "hostfile": "".join(f"{host} slots={slots}\n" for host in hosts),
            "kubexec.sh": f"#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n{enter}",
            "discover_hosts.sh": self.discover(hosts, slots, led=self.has_gpus(job)),
        }
        pods = (self.launcher(job), *(self.worker(job, index) for index in range(workers(job))))
        return Made(pods, (config_map(f"{name}-config", namespace, data),))

    @staticmethod
    def discover(hosts: list[str], slots: int, *, led: bool) -> str:
        """Return the script that lists hosts, with the operator's own line ends; `led` by the launcher."""
        first = [f"echo {hosts[0]}:{slots}\n"] if led else []
        return "\n".join(["#!/bin/sh", *first, *(f"echo {host}:{slots}" for host in sorted(hosts[led:]))])

    @staticmethod
    def has_gpus(job: Object) -> bool:
        """Whether the launcher asks for GPUs, and so has ranks itself."""
        containers = replica(job, "Launcher")["template"]["spec"]["containers"]
        limits = [name for container in containers for name in (container.get("resources") or {}).get("limits") or {}]
        return any("gpu" in name for name in limits)

    @staticmethod
    def labels(job: Object, role: str) -> dict[str, str]:
        """Return the labels of a role's pods."""
        names = {"job-name": name_of(job), "operator-name": "mpijob-controller", "replica-type": role}
        return {f"{PREFIX}{name}": value for name, value in names.items()}

    @staticmethod
    def config(job: Object, *names: str) -> Object:
        """Return the volume of some of the ConfigMap's files."""
        modes = {"hostfile": READ}
        items = [{"key": name, "mode": modes.get(name, RUN), "path": name} for name in names]
        return {"name": VOLUME, "configMap": {"name": f"{name_of(job)}-config", "items": items}}

    def launcher(self, job: Object) -> Pod:
        """Return the pod that starts the ranks; kubectl comes by a container before it."""
        found, name = replica(job, "Launcher"), name_of(job)
        labels = {**self.labels(job, "launcher"), f"{PREFIX}job-role": "master"}
        made = pod(found["template"], f"{name}-launcher", namespace_of(job), labels=labels)
        spec, first = made["spec"], made["spec"]["containers"][0]
        spec.setdefault("serviceAccountName", f"{name}-launcher")
        env = [variable("TARGET_DIR", KUBECTL), variable("NAMESPACE", namespace_of(job))]
        before: Object = {"name": "kubectl-delivery", "image": "kubeflow/kubectl-delivery:latest", "env": env}
        spec["initContainers"] = [*(spec.get("initContainers") or ()), before]
        add(first, variable("OMPI_MCA_plm_rsh_agent", f"{FOLDER}/kubexec.sh"))
        add(first, variable("OMPI_MCA_orte_default_hostfile", f"{FOLDER}/hostfile"))
        if not self.has_gpus(job):
            add(first, *(variable(item, "") for item in BLANK))
        for variable_, value in (("BOOTSTRAP", "rsh"), ("BOOTSTRAP_EXEC", f"{FOLDER}/kubexec.sh")):
            if not has(first, f"I_MPI_HYDRA_{variable_}"):
                add(first, variable(f"I_MPI_HYDRA_{variable_}", value))
        tools: Object = {"name": "mpi-job-kubectl", "emptyDir": {}}
        config = self.config(job, "kubexec.sh", "hostfile", "discover_hosts.sh")
        for container in (first, before):
            mount(spec, container, tools, KUBECTL)
            mount(spec, container, config, FOLDER)
        restart(spec, found, "Never")
        return Pod("launcher", 0, made, name)

    def worker(self, job: Object, index: int) -> Pod:
        """Return a pod that ranks run in; one without a command sleeps."""
        found, name = replica(job, "Worker"), name_of(job)
        labels = {**self.labels(job, "worker"), f"{PREFIX}replica-index": str(index)}
        made = pod(found["template"], f"{name}-worker-{index}", namespace_of(job), labels=labels)
        spec, first = made["spec"], made["spec"]["containers"][0]
        if not first.get("command"):
            first |= {"command": ["sleep"], "args": ["365d"]}
        mount(spec, first, self.config(job, "kubexec.sh"), FOLDER)
        restart(spec, found, "Never")
        return Pod("worker", index, made, name)


CONTROLLERS = (MPIJob(), MPIJobV1())
