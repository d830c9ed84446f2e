"""Job: pods by index, or alike.

Facts: kubernetes v1.35 pkg/controller/job/job_controller.go manageJob, indexed_job_utils.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.labels import JOB_INDEX, JOB_NAME
from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    add,
    count,
    from_field,
    generated,
    has,
    name_of,
    namespace_of,
    pod,
    uid,
)
from trainyard.upstream.workloads import pods_of_job

VARIABLE = "JOB_COMPLETION_INDEX"


def is_indexed(spec: Mapping[str, Any]) -> bool:
    """Whether a Job's pods have an index."""
    return spec.get("completionMode") == "Indexed"


def total(spec: Mapping[str, Any]) -> int:
    """Return how many pods a Job has until its end if none fails; at most `parallelism` of them at once."""
    if spec.get("completions") is None:
        return pods_of_job(spec)
    return count(spec["completions"], 1)


def pods_of(job: Object, role: str, *, offset: int = 0) -> Iterator[Pod]:
    """Yield the pods of a Job; the number in its role counts from `offset`."""
    name, namespace, spec = name_of(job), namespace_of(job), job["spec"]
    owner = uid("Job", namespace, name)
    labels = {JOB_NAME: name, "job-name": name}
    labels |= {"batch.kubernetes.io/controller-uid": owner, "controller-uid": owner}
    for index in range(total(spec)):
        if not is_indexed(spec):
            drawn = generated(f"{name}-", str(index))
            made = pod(spec["template"], drawn, namespace, stem=f"{name}-", labels=labels)
        else:
            prefix = f"{name[: 58 - len(f'-{index}-')]}-{index}-"
            notes = {JOB_INDEX: str(index)}
            both = {**labels, **notes}
            made = pod(spec["template"], generated(prefix), namespace, stem=prefix, labels=both, annotations=notes)
            made["spec"]["hostname"] = f"{name}-{index}"
            for container in (*made["spec"].get("initContainers", ()), *made["spec"]["containers"]):
                if not has(container, VARIABLE):
                    add(container, from_field(VARIABLE, f"metadata.labels['{JOB_INDEX}']"))
        yield Pod(role, offset + index, made, name)


class Job(Controller):
    """Kubernetes' own."""

    kind = "Job"
    group = "batch"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods; a Job has no Service of its own."""
        return Made(tuple(pods_of(job, "worker")))


CONTROLLERS = (Job(),)
