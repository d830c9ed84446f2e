"""JobSet: a Job for every replica of a replicated job, and a headless Service for all.

Facts: jobset v0.12.0 pkg/controllers/jobset_controller.go constructJob, labelAndAnnotateObject; pkg/webhooks.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    count,
    name_of,
    namespace_of,
    service,
    uid,
)
from trainyard.faces.local.controllers.job import pods_of, total

PREFIX = "jobset.sigs.k8s.io/"
GROUP = "default"
"""Of replicated jobs that name none."""


def replicas(job: Object) -> int:
    """Return how many Jobs a replicated job has."""
    return count(job.get("replicas"), 1)


def subdomain(jobset: Object) -> str:
    """Return the name of the Service, empty where pods have no names."""
    network = jobset["spec"].get("network") or {}
    return str(network.get("subdomain") or name_of(jobset)) if network.get("enableDNSHostnames", True) else ""


def coordinator(jobset: Object) -> dict[str, str]:
    """Return the label that names the coordinating pod, where there is one."""
    found = jobset["spec"].get("coordinator")
    if not found:
        return {}
    place = f"{found['replicatedJob']}-{found.get('jobIndex', 0)}-{found.get('podIndex', 0)}"
    return {f"{PREFIX}coordinator": f"{name_of(jobset)}-{place}.{subdomain(jobset)}"}


def marks(jobset: Object, replicated: Object, index: int, attempt: int) -> dict[str, str]:
    """Return the labels of a Job and its pods, which are annotations too."""
    jobs: list[Object] = jobset["spec"]["replicatedJobs"]
    before = sum(replicas(job) for job in jobs[: jobs.index(replicated)])
    group = replicated.get("groupName") or GROUP
    of_group = [job for job in jobs if (job.get("groupName") or GROUP) == group]
    before_in_group = sum(replicas(item) for item in of_group[: of_group.index(replicated)])
    namespace, name = namespace_of(jobset), name_of(jobset)
    key = f"{namespace}/{name}-{replicated['name']}-{index}"
    values = {
        "jobset-name": name,
        "jobset-uid": uid("JobSet", namespace, name),
        "replicatedjob-name": replicated["name"],
        "replicatedjob-replicas": replicas(replicated),
        "restart-attempt": attempt,
        "global-replicas": sum(map(replicas, jobs)),
        "job-index": index,
        "job-key": hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest(),
        "job-global-index": before + index,
        "group-name": group,
        "group-replicas": sum(map(replicas, of_group)),
        "job-group-index": before_in_group + index,
    }
    return {**{f"{PREFIX}{name}": str(value) for name, value in values.items()}, **coordinator(jobset)}


def child(jobset: Object, replicated: Object, index: int, attempt: int) -> Object:
    """Return one Job of a replicated job, as the webhook and the controller complete it."""
    template: dict[str, Any] = copy.deepcopy(replicated["template"])
    spec = template["spec"]
    spec.setdefault("completionMode", "Indexed")
    labels = marks(jobset, replicated, index, attempt)
    inner = spec["template"]
    metadata = inner.get("metadata") or {}
    inner["metadata"] = {
        **metadata,
        "labels": {**(metadata.get("labels") or {}), **labels, f"{PREFIX}priority": "0"},
        "annotations": {**(metadata.get("annotations") or {}), **labels},
    }
    inner["spec"].setdefault("restartPolicy", "OnFailure")
    if subdomain(jobset):
        inner["spec"]["subdomain"] = subdomain(jobset)
    name = f"{name_of(jobset)}-{replicated['name']}-{index}"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace_of(jobset), "labels": labels},
        "spec": spec,
    }


def children(jobset: Object, attempt: int = 0) -> list[tuple[Object, Object]]:
    """Return every Job, each with the replicated job that it is of."""
    found = jobset["spec"]["replicatedJobs"]
    return [(item, child(jobset, item, index, attempt)) for item in found for index in range(replicas(item))]


def make(jobset: Object, attempt: int = 0) -> Made:
    """Return the pods and the Service of a JobSet; `attempt` counts how often all were started again."""
    pods: list[Pod] = []
    offsets: dict[str, int] = {}
    for replicated, job in children(jobset, attempt):
        role = replicated["name"]
        pods += pods_of(job, role, offset=offsets.get(role, 0))
        offsets[role] = offsets.get(role, 0) + total(job["spec"])
    if not subdomain(jobset):
        return Made(tuple(pods))
    network = jobset["spec"].get("network") or {}
    selector = {f"{PREFIX}jobset-name": name_of(jobset)}
    unready = network.get("publishNotReadyAddresses", True)
    return Made(tuple(pods), (service(subdomain(jobset), namespace_of(jobset), selector, unready=unready),))


class JobSet(Controller):
    """Jobs that start, fail and restart together."""

    kind = "JobSet"
    group = "jobset.x-k8s.io"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods of all Jobs, and the Service."""
        return make(job)


CONTROLLERS = (JobSet(),)
