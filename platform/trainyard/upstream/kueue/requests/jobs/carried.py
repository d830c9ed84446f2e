"""Kinds whose pod sets are the templates that their objects carry, or that a runtime carries for them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.labels import JOB_INDEX
from trainyard.base.manifests import Identity, identity_of, value_at
from trainyard.upstream.kueue.requests.annotations import NO_INDEX, Index
from trainyard.upstream.kueue.requests.jobs.parts import Made, NotMade, Object, Part, notes_of
from trainyard.upstream.workloads import PodSet, carrier_of, runtime_of, written_object
from trainyard.upstream.workloads.base import number
from trainyard.upstream.workloads.runtimes import NODE, RUNTIME, TRAINS, step

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
JOBSET_INDEX = "jobset.sigs.k8s.io/job-index"


def carried_workload(value: Object, others: list[Object]) -> Iterator[Made]:
    """Yield the one Workload of a job; raises NotMade where its runtime is not there."""
    there = {runtime_identity(identity_of(other)): other for other in others}
    holder = written_object(value, there.get)
    runtime = runtime_of(value)
    if holder is None and runtime is not None:
        raise NotMade(f"runtime '{runtime.name}' not found")
    assert holder is not None
    row = carrier_of(holder)
    sets = [
        (pod_set, value_at(holder, pod_set.template))
        for pod_set in (row.pod_sets(holder) if row else ())
        if pod_set.counted
    ]
    yield Made(
        tuple(
            Part(
                pod_set.name,
                pod_set.count,
                size_template(value, holder, pod_set, template),
                index_of(holder, pod_set),
                min_count(value),
            )
            for pod_set, template in sets
        )
    )


def size_template(value: Object, holder: Object, pods: PodSet, template: Object) -> Object:
    """Return a template with the resources that a TrainJob gives each node.

    Kueue 0.19.2 counts by Trainer 2.2.1, where they take the place of the runtime's; since 2.3.0 they are merged.
    """
    trainer, policy = value_at(value, ("spec", "trainer")) or {}, value_at(holder, ("spec", "mlPolicy")) or {}
    given = trainer.get("resourcesPerNode") if identity_of(value).kind == "TrainJob" else None
    if not given or (given.get("limits") is None and given.get("requests") is None):
        return template
    replicated = value_at(holder, pods.template[: pods.template.index("replicatedJobs") + 2])
    beside = (policy.get("mpi") or {}).get("runLauncherAsNode") is True and pods.name == NODE
    if step(replicated) != TRAINS and not beside:
        return template
    spec = template.get("spec") or {}
    containers = [
        {**container, "resources": given} if container.get("name") == NODE else container
        for container in spec.get("containers") or ()
    ]
    return {**template, "spec": {**spec, "containers": containers}}


def runtime_identity(identity: Identity) -> Identity:
    """Return the identity of a runtime, in the default namespace where it names none."""
    return identity._replace(namespace=identity.namespace or "default") if identity.kind == RUNTIME else identity


def index_of(holder: Object, pods: PodSet) -> Index:
    """Return the labels by which a kind tells its pods apart (pkg/controller/jobs)."""
    if "replicatedJobs" in pods.template:
        replicated = value_at(holder, pods.template[: pods.template.index("replicatedJobs") + 2])
        return Index(pod=JOB_INDEX, group=JOBSET_INDEX, groups=number(replicated, "replicas", 1))
    row = carrier_of(holder)
    return Index(pod=row.queueing.index) if row is not None and row.queueing is not None else NO_INDEX


def min_count(value: Object) -> int | None:
    """Return with how few pods a Job starts, None where it wants all."""
    if identity_of(value).kind != "Job":
        return None
    text = notes_of(value).get(MIN_PARALLELISM, "")
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdigit() else None
