"""RayCluster and RayJob: a head, workers by group, and a pod that submits.

Facts: kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go, job.go; probes and autoscaling are left out.
"""

from __future__ import annotations

import copy

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    RunError,
    add,
    count,
    from_field,
    generated,
    has,
    letters,
    mount,
    name_of,
    namespace_of,
    pod,
    service,
    variable,
)
from trainyard.faces.local.controllers.job import pods_of
from trainyard.faces.local.controllers.ray_commands import start, submission

PREFIX = "ray.io/"
VERSION = "v1.6.2"
PORT = "6379"
SHELL = ["/bin/bash", "-c", "--"]
PORTS = (("client", 10001), ("dashboard", 8265), ("gcs-server", 6379), ("metrics", 8080), ("serve", 8000))

WAIT = "until ray health-check --address {}; do sleep 5; done"
"""What a worker waits by, in the operator's own container; its script says the same in more words."""


def clipped(name: str) -> str:
    """Return a name as the operator cuts it: its last 50 characters, beginning with a letter."""
    found = name[-50:]
    return f"r{found[1:]}" if found[:1].isdigit() else found


def head_service(cluster: str) -> str:
    """Return the name of the head's Service."""
    return clipped(f"{cluster}-head-svc")


class Cluster:
    """A RayCluster's pods; of a RayJob the cluster that it makes."""

    def __init__(self, name: str, namespace: str, spec: Object, crd: str) -> None:
        self.name, self.namespace, self.spec, self.crd = name, namespace, spec, crd
        if spec.get("enableInTreeAutoscaling"):
            raise RunError(
                f"{crd} {name!r} uses autoscaling, which does not run here; set enableInTreeAutoscaling to false"
            )

    @property
    def address(self) -> str:
        """Where workers find the head."""
        return f"{head_service(self.name)}.{self.namespace}.svc.cluster.local"

    def labels(self, node: str, group: str) -> dict[str, str]:
        """Return the labels of a group's pods."""
        names = {"cluster": self.name, "group": group, "identifier": f"{self.name}-{node}", "is-ray-node": "yes"}
        names["node-type"] = node
        of_app = {"app.kubernetes.io/name": "kuberay", "app.kubernetes.io/created-by": "kuberay-operator"}
        return {**{f"{PREFIX}{key}": value for key, value in names.items()}, **of_app}

    def pods(self) -> list[Pod]:
        """Return the head, then the workers of every group."""
        found = [self.head()]
        for group in self.spec.get("workerGroupSpecs") or ():
            hosts = count(group.get("numOfHosts"), 1)
            for replica in range(count(group.get("replicas"), count(group.get("minReplicas"), 0))):
                found += (self.worker(group, replica, host, hosts) for host in range(hosts))
        return found

    def head(self) -> Pod:
        """Return the head's pod."""
        group = self.spec["headGroupSpec"]
        notes = {f"{PREFIX}ft-enabled": "false", f"{PREFIX}kuberay-version": VERSION}
        stem = f"{self.name[:50]}-head-"
        labels = {**(group.get("labels") or {}), **self.labels("head", "headgroup")}
        made = pod(group["template"], generated(stem), self.namespace, stem=stem, labels=labels, annotations=notes)
        self.complete(made, group, "127.0.0.1")
        return Pod("head", 0, made, self.name)

    def worker(self, group: Object, replica: int, host: int, hosts: int) -> Pod:
        """Return one worker's pod."""
        called = group["groupName"]
        labels = {**(group.get("labels") or {}), **self.labels("worker", called)}
        labels[f"{PREFIX}worker-group-replica-index"] = str(replica)
        if hosts > 1:
            labels[f"{PREFIX}worker-group-replica-name"] = f"{called}-{letters(self.name, called, str(replica))}"
            labels[f"{PREFIX}replica-host-index"] = str(host)
        stem = f"{f'{self.name}-{called}'[:50]}-worker-"
        name = generated(stem, str(replica), str(host))
        made = pod(group["template"], name, self.namespace, stem=stem, labels=labels)
        spec = made["spec"]
        trains = spec["containers"][0]
        before = {
            "name": "wait-gcs-ready",
            "image": trains.get("image", ""),
            "command": list(SHELL),
            "args": [WAIT.format(f"{self.address}:{PORT}")],
            "env": copy.deepcopy(trains.get("env") or []),
            "volumeMounts": copy.deepcopy(trains.get("volumeMounts") or []),
        }
        spec["initContainers"] = [*(spec.get("initContainers") or ()), before]
        self.complete(made, group, self.address)
        return Pod(called, replica * hosts + host, made, self.name)

    def complete(self, made: Object, group: Object, address: str) -> None:
        """Add the command that starts Ray, what containers are told, and shared memory."""
        spec, head = made["spec"], address == "127.0.0.1"
        spec.setdefault("restartPolicy", "Always")
        first = spec["containers"][0]
        command = start(group, first, head=head, address=f"{address}:{PORT}")
        paths = {volume_mount["mountPath"] for volume_mount in first.get("volumeMounts") or ()}
        params = group.get("rayStartParams") or {}
        if "/dev/shm" not in paths and "plasma-directory" not in params:  # noqa: S108 - of the pod
            resources = first.get("resources") or {}
            size = (resources.get("requests") or {}).get("memory") or (resources.get("limits") or {}).get("memory")
            source = {"medium": "Memory", **({"sizeLimit": size} if size else {})}
            mount(spec, first, {"name": "shared-mem", "emptyDir": source}, "/dev/shm")  # noqa: S108 - of the pod
        said = "".join(f" {word} " for word in (*(first.get("command") or ()), *(first.get("args") or ())))
        overwritten = made["metadata"]["annotations"].get("ray.io/overwrite-container-cmd", "").lower() == "true"
        if not overwritten and "ray start" not in said:
            run = f"ulimit -n 65536; {command}"
            first |= {"command": list(SHELL), "args": [f"{said} && {run}" if said else run]}
        named = [] if head else [variable("FQ_RAY_IP", address), variable("RAY_IP", address.partition(".")[0])]
        for container in spec.get("initContainers") or ():
            waits = variable("FQ_RAY_IP", self.address), variable("RAY_IP", self.address.partition(".")[0])
            add(container, *waits)
        add(
            first,
            *named,
            from_field("RAY_CLUSTER_NAME", f"metadata.labels['{PREFIX}cluster']"),
            from_field("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
            from_field("RAY_CLOUD_INSTANCE_ID", "metadata.name"),
            from_field("RAY_NODE_TYPE_NAME", f"metadata.labels['{PREFIX}group']"),
            variable("KUBERAY_GEN_RAY_START_CMD", command),
        )
        tags = [("RAY_USAGE_STATS_EXTRA_TAGS", f"kuberay_version={VERSION};kuberay_crd={self.crd}")] if head else []
        later = [("RAY_PORT", PORT), ("RAY_ADDRESS", f"{address}:{PORT}"), ("RAY_USAGE_STATS_KUBERAY_IN_USE", "1")]
        for name, value in (*later, *tags, ("RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1")):
            if not has(first, name):
                add(first, variable(name, value))
        if all(port.get("name") != "metrics" for port in first.get("ports") or ()):
            first["ports"] = [*(first.get("ports") or ()), {"name": "metrics", "containerPort": 8080}]

    def services(self, *more: str) -> list[Object]:
        """Return the head's Service, also under other names, and that of workers of several hosts."""
        selector = {
            key: value for key, value in self.labels("head", "").items() if "group" not in key and "is-ray" not in key
        }
        ports = [{"name": name, "port": port} for name, port in PORTS]
        names = (head_service(self.name), *more)
        found = [service(name, self.namespace, selector, ports, unready=True) for name in names]
        if any(count(group.get("numOfHosts"), 1) > 1 for group in self.spec.get("workerGroupSpecs") or ()):
            workers = {f"{PREFIX}cluster": self.name, f"{PREFIX}node-type": "worker"}
            found.append(service(f"{self.name}-headless", self.namespace, workers, unready=True))
        return found


class RayCluster(Controller):
    """A cluster that stays."""

    kind = "RayCluster"
    group = "ray.io"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return head and workers, and their Services."""
        found = Cluster(name_of(job), namespace_of(job), job["spec"], self.kind)
        return Made(tuple(found.pods()), tuple(found.services()))


class RayJob(Controller):
    """A cluster, and a Job that submits the program to it."""

    kind = "RayJob"
    group = "ray.io"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods of the cluster, then the one that submits."""
        name, namespace, spec = name_of(job), namespace_of(job), job["spec"]
        if not spec.get("rayClusterSpec"):
            raise RunError(f"RayJob {name!r} has no rayClusterSpec, so the operator creates no pods")
        cluster = Cluster(f"{name}-{letters(name, 'cluster')}", namespace, spec["rayClusterSpec"], self.kind)
        mode = spec.get("submissionMode") or "K8sJobMode"
        if mode != "K8sJobMode":
            raise RunError(f"RayJob {name!r} has submissionMode {mode}; only K8sJobMode runs here")
        return Made((*cluster.pods(), self.submitter(job, cluster)), tuple(cluster.services(head_service(name))))

    @staticmethod
    def submitter(job: Object, cluster: Cluster) -> Pod:
        """Return the pod that hands the program to the cluster and follows its log."""
        name, namespace, spec = name_of(job), namespace_of(job), job["spec"]
        template = copy.deepcopy(spec.get("submitterPodTemplate") or {})
        head = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
        if not template:
            own = {"name": "ray-job-submitter", "image": head.get("image", "")}
            template = {"spec": {"containers": [own], "restartPolicy": "Never"}}
        ports = {port.get("name"): port.get("containerPort") for port in head.get("ports") or ()}
        address, called = f"{cluster.address}:{ports.get('dashboard', 8265)}", f"{name}-{letters(name, 'submission')}"
        first = template["spec"]["containers"][0]
        if not first.get("command"):
            first |= {"command": ["/bin/bash", "-ce", "--"], "args": [submission(spec, address, called)]}
        add(first, variable("PYTHONUNBUFFERED", 1))
        add(first, variable("RAY_DASHBOARD_ADDRESS", address), variable("RAY_JOB_SUBMISSION_ID", called))
        inner = {"template": template}
        (made,) = pods_of({"metadata": {"name": name, "namespace": namespace}, "spec": inner}, "submitter")
        return made


CONTROLLERS = (RayCluster(), RayJob())
