"""Kinds whose pod sets are the templates that their objects carry, or that a runtime carries for them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.carriers import PodSet, carrier_of, runtime_of, written
from trainyard.carriers.base import number
from trainyard.carriers.runtimes import NODE, RUNTIME, TRAINS, step
from trainyard.labels import JOB_INDEX
from trainyard.manifests import Identity, identity_of, value_at
from trainyard.queueing.requests.annotations import Index
from trainyard.queueing.requests.jobs.parts import Made, NotMade, Object, Part, notes_of

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
JOBSET_INDEX = "jobset.sigs.k8s.io/job-index"
REPLICA_INDEX = "training.kubeflow.org/replica-index"


def carried(value: Object, others: list[Object]) -> Iterator[Made]:
    """Yield the one Workload of a job; raises NotMade where its runtime is not there."""
    there = {placed(identity_of(each)): each for each in others}
    holder = written(value, there.get)
    runtime = runtime_of(value)
    if holder is None and runtime is not None:
        raise NotMade(f"runtime '{runtime.name}' not found")
    assert holder is not None
    row = carrier_of(holder)
    sets = [(each, value_at(holder, each.template)) for each in (row.pod_sets(holder) if row else ()) if each.counted]
    yield Made(
        tuple(
            Part(each.name, each.count, sized(value, holder, each, template), index_of(holder, each), min_count(value))
            for each, template in sets
        )
    )


def sized(value: Object, holder: Object, pods: PodSet, template: Object) -> Object:
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
        {**each, "resources": given} if each.get("name") == NODE else each for each in spec.get("containers") or ()
    ]
    return {**template, "spec": {**spec, "containers": containers}}


def placed(identity: Identity) -> Identity:
    """Return what tells a runtime, in the default namespace where it names none."""
    return identity._replace(namespace=identity.namespace or "default") if identity.kind == RUNTIME else identity


def index_of(holder: Object, pods: PodSet) -> Index:
    """Return the labels by which a kind tells its pods apart (pkg/controller/jobs)."""
    kind = identity_of(holder).kind
    if kind == "Job":
        return Index(pod=JOB_INDEX)
    if "replicatedJobs" in pods.template:
        replicated = value_at(holder, pods.template[: pods.template.index("replicatedJobs") + 2])
        return Index(pod=JOB_INDEX, group=JOBSET_INDEX, groups=number(replicated, "replicas", 1))
    return Index(pod=REPLICA_INDEX)


def min_count(value: Object) -> int | None:
    """Return with how few pods a Job starts, None where it wants all."""
    if identity_of(value).kind != "Job":
        return None
    text = notes_of(value).get(MIN_PARALLELISM, "")
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdigit() else None
