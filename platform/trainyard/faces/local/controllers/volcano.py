"""Volcano's Job: tasks, and what its plugins add to their pods.

Facts: volcano v1.14.1 pkg/controllers/job/job_controller_util.go createJobPod, plugins/{env,svc,ssh} and
plugins/distributed-framework. Plugins run in any order in the controller; here in that of the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    add_to_all,
    config_map,
    count,
    mount,
    name_of,
    namespace_of,
    pod,
    secret,
    service,
    uid,
    variable,
)

PREFIX = "volcano.sh/"
KEYS = ("id_rsa", "id_rsa.pub", "authorized_keys", "config")
HOME = "/root/.ssh"


def options(arguments: Sequence[str] | None, **defaults: str) -> dict[str, str]:
    """Return a plugin's arguments, written `--name=value` or `--name value`, beside its defaults."""
    found, words = dict(defaults), list(arguments or ())
    while words:
        name, given, value = words.pop(0).lstrip("-").partition("=")
        if not given and words and not words[0].startswith("-"):
            value = words.pop(0)
        found[name] = value or "true"
    return found


def tasks(job: Object) -> list[Object]:
    """Return the tasks; one without a name is called by its place."""
    found = job["spec"].get("tasks") or []
    return [{**task, "name": task.get("name") or f"default{place}"} for place, task in enumerate(found)]


def find_task(job: Object, name: str) -> Object | None:
    """Return the task of a name."""
    return next((task for task in tasks(job) if task["name"] == name), None)


def hosts(job: Object, task: Object) -> list[str]:
    """Return the addresses of a task's pods; a template that says its hostname has one for all."""
    spec = task["template"]["spec"]
    domain = spec.get("subdomain") or name_of(job)
    if spec.get("hostname"):
        return [f"{spec['hostname']}.{domain}"]
    return [f"{name_of(job)}-{task['name']}-{index}.{domain}" for index in range(count(task.get("replicas"), 1))]


def of_env(_job: Object, made: Pod, _arguments: Sequence[str]) -> None:
    """Tell every container its index in its task."""
    add_to_all(containers(made), *(variable(name, made.index) for name in ("VK_TASK_INDEX", "VC_TASK_INDEX")))


def of_svc(job: Object, made: Pod, _arguments: Sequence[str]) -> None:
    """Give the pod a name below the Service, and every container the hosts of each task."""
    spec, config = made.spec, f"{name_of(job)}-svc"
    spec["hostname"] = spec.get("hostname") or made.name
    spec["subdomain"] = spec.get("subdomain") or name_of(job)
    keys = [f"VC_{word(task['name']).upper()}_{what}" for task in tasks(job) for what in ("HOSTS", "NUM")]
    told = ({"name": key, "valueFrom": {"configMapKeyRef": {"name": config, "key": key}}} for key in keys)
    add_to_all(containers(made), *told)
    for container in containers(made):
        mount(spec, container, {"name": config, "configMap": {"name": config}}, "/etc/volcano")


def of_ssh(job: Object, made: Pod, arguments: Sequence[str]) -> None:
    """Mount the keys by which pods reach each other."""
    name = f"{name_of(job)}-ssh"
    folder = options(arguments, **{"ssh-key-file-path": HOME})["ssh-key-file-path"]
    items = [{"key": key, "path": f".ssh/{key}"} for key in KEYS]
    mode = 0o600 if folder == HOME else 0o644
    volume = {"name": name, "secret": {"secretName": name, "items": items, "defaultMode": mode}}
    for container in containers(made):
        mount(made.spec, container, volume, folder, subPath=".ssh")


def of_pytorch(job: Object, made: Pod, arguments: Sequence[str]) -> None:
    """Tell containers where the master is, how many pods there are, and which this is."""
    said = options(arguments, master="master", worker="worker", port="23456")
    master = find_task(job, said["master"])
    if master is None:
        return
    roles = [task for task in tasks(job) if task["name"] in {said["master"], said["worker"]}]
    address = hosts(job, master)[0]
    told = [variable("MASTER_ADDR", address), variable("MASTER_PORT", said["port"])]
    told.append(variable("WORLD_SIZE", sum(count(task.get("replicas"), 1) for task in roles)))
    ranks = {said["master"]: 0, said["worker"]: made.index + 1}
    told += [variable("RANK", ranks[made.role])] if made.role in ranks else []
    add_to_all(made.spec["containers"], *told)
    for container in made.spec["containers"]:
        listen(container, "pytorchjob-port", int(said["port"]))
    if made.role == said["worker"] and said.get("wait-master-enabled") == "true":
        raise RunError("Volcano's wait-master-enabled is not supported here; remove it")


def of_mpi(job: Object, made: Pod, arguments: Sequence[str]) -> None:
    """Open the port of ssh, and tell the master's containers the workers' addresses."""
    said = options(arguments, master="master", worker="worker", port="22")
    workers = find_task(job, said["worker"])
    if made.role == said["master"] and workers is None:
        return
    for container in containers(made):
        listen(container, "mpijob-port", int(said["port"]))
    if made.role == said["master"] and workers is not None:
        add_to_all(containers(made), variable("MPI_HOST", ",".join(hosts(job, workers))))


def of_tensorflow(job: Object, made: Pod, arguments: Sequence[str]) -> None:
    """Tell containers of the whole cluster, where it is more than one pod."""
    said = options(arguments, ps="ps", worker="worker", chief="chief", evaluator="evaluator", port="2222")
    found = tasks(job)
    if len(found) == 1 and count(found[0].get("replicas"), 1) == 1:
        return
    kinds = {said[kind]: kind for kind in ("ps", "worker", "chief", "evaluator")}
    known = {kinds[task["name"]]: task for task in found if task["name"] in kinds}
    cluster = {
        kind: [f"{host}:{said['port']}" for host in hosts(job, known[kind])]
        for kind in ("ps", "worker", "chief", "evaluator")
        if kind in known
    }
    config = {"cluster": cluster, "task": {"type": kinds.get(made.role, made.role), "index": made.index}}
    add_to_all(made.spec["containers"], variable("TF_CONFIG", json.dumps(config, separators=(",", ":"))))


def listen(container: Object, name: str, port: int) -> None:
    """Open a port of a container."""
    if all(one_port.get("containerPort") != port for one_port in container.get("ports") or ()):
        container["ports"] = [*(container.get("ports") or ()), {"name": name, "containerPort": port}]


def containers(made: Pod) -> list[Object]:
    """Return all containers of a pod."""
    return [*made.spec["containers"], *(made.spec.get("initContainers") or ())]


def word(name: str) -> str:
    """Return a task's name as keys have it."""
    return name.replace("-", "_")


PLUGINS: Mapping[str, Callable[[Object, Pod, Sequence[str]], None]] = {
    "env": of_env,
    "svc": of_svc,
    "ssh": of_ssh,
    "pytorch": of_pytorch,
    "mpi": of_mpi,
    "tensorflow": of_tensorflow,
}

NEEDS = {"pytorch": ("svc",), "mpi": ("svc", "ssh"), "tensorflow": ("svc",)}
"""Plugins that the admission webhook adds to those that need them (volcano v1.14.1 pkg/webhooks/admission/jobs)."""


class Job(Controller):
    """Tasks, gang-scheduled."""

    kind = "Job"
    group = "batch.volcano.sh"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods of all tasks, and what the plugins make beside them."""
        plugins: dict[str, Sequence[str]] = dict(job["spec"].get("plugins") or {})
        for name in tuple(plugins):
            if name not in PLUGINS:
                raise RunError(
                    f"Volcano plugin {name!r} is not supported here; supported are {', '.join(sorted(PLUGINS))}"
                )
            plugins |= {needed: () for needed in NEEDS.get(name, ()) if needed not in plugins}
        pods = []
        for task in tasks(job):
            for index in range(count(task.get("replicas"), 1)):
                found = self.pod(job, task, index)
                for name, arguments in plugins.items():
                    PLUGINS[name](job, found, arguments or ())
                pods.append(found)
        return Made(tuple(pods), tuple(self.plugin_objects(job, plugins)))

    @staticmethod
    def pod(job: Object, task: Object, index: int) -> Pod:
        """Return one pod of a task, before any plugin."""
        name, spec, namespace = name_of(job), job["spec"], namespace_of(job)
        queue = spec.get("queue") or "default"
        names = {"job-name": name, "task-spec": task["name"], "task-index": str(index), "queue-name": queue}
        marks = {f"{PREFIX}{key}": value for key, value in names.items()}
        notes = {
            **marks,
            "scheduling.k8s.io/group-name": f"{name}-{uid('Job', namespace, name)}",
            f"{PREFIX}job-version": "0",
            f"{PREFIX}template-uid": f"{name}-{task['name']}",
            f"{PREFIX}job-retry-count": "0",
        }
        labels = {**marks, f"{PREFIX}job-namespace": namespace}
        made = pod(task["template"], f"{name}-{task['name']}-{index}", namespace, labels=labels, annotations=notes)
        body = made["spec"]
        body.setdefault("schedulerName", spec.get("schedulerName") or "volcano")
        body.setdefault("restartPolicy", "Always")
        for volume in spec.get("volumes") or ():
            claim = volume["volumeClaimName"]
            source: Object = {"name": f"{name}-{claim}", "persistentVolumeClaim": {"claimName": claim}}
            for container in body["containers"]:
                mount(body, container, source, volume["mountPath"])
        return Pod(task["name"], index, made, name)

    @staticmethod
    def plugin_objects(job: Object, plugins: Mapping[str, Sequence[str]]) -> list[Object]:
        """Return the Service and the ConfigMap of `svc`, and the Secret of `ssh`."""
        name, namespace = name_of(job), namespace_of(job)
        found: list[Object] = []
        if "svc" in plugins:
            data = {}
            for task in tasks(job):
                there, key = hosts(job, task), word(task["name"])
                data[f"{key}.host"] = "\n".join(there)
                data[f"VC_{key.upper()}_HOSTS"] = ",".join(there)
                data[f"VC_{key.upper()}_NUM"] = str(len(there))
            unready = options(plugins["svc"]).get("publish-not-ready-addresses") == "true"
            selector = {f"{PREFIX}job-name": name, f"{PREFIX}job-namespace": namespace}
            found += [service(name, namespace, selector, unready=unready), config_map(f"{name}-svc", namespace, data)]
        if "ssh" in plugins:
            found.append(secret(f"{name}-ssh", namespace, *KEYS))
        return found


CONTROLLERS = (Job(),)
