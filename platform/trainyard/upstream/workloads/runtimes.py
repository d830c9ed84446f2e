"""Pods that are written in another object: those of a TrainJob, in the runtime that it names.

Facts: trainer v2.3.0 pkg/runtime/core/trainingruntime.go and pkg/runtime/framework/plugins; kueue v0.19.2
pkg/controller/jobs/trainjob, which counts the pods of a TrainJob by Trainer's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from trainyard.base.manifests import Identity, identity_of
from trainyard.upstream.workloads.base import Object, inner, number, pods_of_job, text
from trainyard.upstream.workloads.merge import LISTS, merge, merge_list
from trainyard.upstream.workloads.variables import Variables

TRAINER = "trainer.kubeflow.org"

CLUSTER_WIDE = "ClusterTrainingRuntime"
"""The kind of runtime that a TrainJob names where it says no kind (trainer v2.3.0 trainjob_types.go RuntimeRef)."""

RUNTIME = "TrainingRuntime"

STEP = f"{TRAINER}/trainjob-ancestor-step"
"""Label of a runtime's job: which part of a TrainJob speaks of it."""

TRAINS = "trainer"
"""Value of that label on the job which `spec.trainer` speaks of."""

INITIALIZERS = ("dataset-initializer", "model-initializer")
"""Values of the label on jobs that fetch data and a model, and the names of their containers."""

STORAGE = "STORAGE_URI"
"""Variable of an initializer: the address from which it fetches."""

NODE = "node"
"""Container that `spec.trainer` speaks of; of MPI's jobs the one whose pods `numNodes` counts."""

OF_LAUNCHER = frozenset(
    {
        "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "OMPI_MCA_orte_set_default_slots",
        "OMPI_MCA_plm_rsh_args",
    }
)
INDEX = frozenset({"JOB_COMPLETION_INDEX"})

VARIABLES = Variables(INDEX, {"launcher": INDEX | OF_LAUNCHER}, r"PET_\w+|JAX_\w+|DMLC_\w+|OMPI_\w+")
"""By the framework that the runtime's policy names: torch, jax, xgboost or mpi."""

Find = Callable[[Identity], Object | None]


def is_runtime(identity: Identity) -> bool:
    """Whether an object is a runtime that a TrainJob may name."""
    return identity.group == TRAINER and identity.kind in (RUNTIME, CLUSTER_WIDE)


def may_name(identity: Identity, namespace: str) -> bool:
    """Whether an object is a runtime that TrainJobs in a team's namespace may name."""
    return is_runtime(identity) and identity.namespace in {"", namespace}


def runtime_of(value: Object) -> Identity | None:
    """Return the identity of the runtime that a TrainJob names, None for every other object."""
    identity = identity_of(value)
    if (identity.group, identity.kind) != (TRAINER, "TrainJob"):
        return None
    reference = inner(value, "spec", "runtimeRef")
    kind = text(reference, "kind") or CLUSTER_WIDE
    namespace = "" if kind == CLUSTER_WIDE else identity.namespace or "default"
    return Identity(text(reference, "apiGroup") or TRAINER, kind, namespace, text(reference, "name"))


def written_object(value: Object, find: Find) -> Object | None:
    """Return the object in which the pods of a workload are written: itself, or its runtime as it changes it.

    `find` looks an object up; None where the runtime is not there.
    """
    identity = runtime_of(value)
    if identity is None:
        return value
    runtime = find(identity)
    return None if runtime is None else change_runtime(runtime, value)


def change_runtime(runtime: Object, job: Object) -> Object:
    """Return a runtime with what a TrainJob says of it; the runtime itself where that makes no other pods."""
    found = deepcopy(dict(runtime))
    policy = inner(found, "spec").get("mlPolicy")
    for one_job in jobs(found):
        patch(one_job, job)
    counted = False
    for one_job in jobs(found):
        size(one_job, inner(job, "spec", "trainer"), policy if isinstance(policy, Mapping) else None, counted=counted)
        counted = counted or step(one_job) == TRAINS
        fill(one_job, inner(job, "spec", "trainer"), policy if isinstance(policy, Mapping) else None)
        initialize(one_job, inner(job, "spec", "initializer"))
    return runtime if found == runtime else found


def jobs(runtime: Object) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a runtime that have a pod template."""
    listed = inner(runtime, "spec", "template", "spec").get("replicatedJobs")
    for job in listed if isinstance(listed, list) else ():
        if isinstance(inner(job, "template", "spec", "template").get("spec"), dict):
            yield job


def step(job: Object) -> str:
    """Return which part of a TrainJob speaks of a job of its runtime; empty where none does."""
    return text(inner(job, "template", "metadata", "labels"), STEP)


def patches(job: Object, name: str) -> Iterator[Object]:
    """Yield the templates with which a TrainJob's patches change one job of its runtime, in their order."""
    listed = inner(job, "spec").get("runtimePatches")
    for one_patch in listed if isinstance(listed, list) else ():
        said = inner(one_patch, "trainingRuntimeSpec", "template", "spec").get("replicatedJobs")
        for patched in said if isinstance(said, list) else ():
            if isinstance(patched, Mapping) and patched.get("name") == name:
                yield inner(patched, "template")


def patch(job: dict[str, Any], value: Object) -> None:
    """Merge a TrainJob's patches into one job of its runtime, in place."""
    for said in patches(value, text(job, "name")):
        job["template"] = merge(job["template"], said, lists={})


def size(job: dict[str, Any], trainer: Object, policy: Object | None, *, counted: bool) -> None:
    """Put the numbers of pods into one job, in place; of several that train the first alone is counted by numNodes.

    A runtime's own numbers are at least 1 (trainer v2.3.0 pkg/runtime/runtime.go WithPodSet).
    """
    spec, name = job["template"]["spec"], text(job, "name")
    asked = number(trainer, "numNodes", 0) if "numNodes" in trainer else None
    pods = number(spec, "parallelism", 1)
    if step(job) == TRAINS and policy is not None:
        pods = number(policy, "numNodes", 1)
    pods = max(1, pods)
    if policy is not None and isinstance(policy.get("mpi"), Mapping):
        if name == NODE and asked is not None:
            pods = max(1, asked - 1) if inner(policy, "mpi").get("runLauncherAsNode") is True else asked
    elif step(job) == TRAINS and not counted and asked is not None:
        pods = asked
    if pods_of_job(spec) != pods:
        spec["parallelism"] = spec["completions"] = pods
    if step(job) in (TRAINS, *INITIALIZERS) and number(job, "replicas", 1) != 1:
        job["replicas"] = 1


def fill(job: dict[str, Any], trainer: Object, policy: Object | None) -> None:
    """Put what `spec.trainer` says into the containers that it speaks of, in place."""
    beside = policy is not None and inner(policy, "mpi").get("runLauncherAsNode") is True and text(job, "name") == NODE
    if step(job) != TRAINS and not beside:
        return
    containers = job["template"]["spec"]["template"]["spec"].get("containers")
    for container in containers if isinstance(containers, list) else ():
        if not isinstance(container, dict) or container.get("name") != NODE:
            continue
        if step(job) == TRAINS:
            container.update({field: trainer[field] for field in ("image", "command", "args") if trainer.get(field)})
        if isinstance(trainer.get("env"), list):
            env = container.get("env")
            container["env"] = merge_list(env if isinstance(env, list) else [], trainer["env"], LISTS["env"], {})
        if isinstance(trainer.get("resourcesPerNode"), Mapping) and policy is not None:
            container["resources"] = merge(container.get("resources"), trainer["resourcesPerNode"], lists={})


def initialize(job: dict[str, Any], said: Object) -> None:
    """Put what `spec.initializer` says into the container that fetches data or a model, in place.

    Source: trainer v2.3.0 pkg/runtime/framework/plugins/jobset/builder.go Initializer.
    """
    name = step(job)
    own = inner(said, name.removesuffix("-initializer")) if name in INITIALIZERS else {}
    containers = job["template"]["spec"]["template"]["spec"].get("containers")
    for container in containers if own and isinstance(containers, list) else ():
        if not isinstance(container, dict) or container.get("name") != name:
            continue
        more = own.get("env")
        added = [{"name": STORAGE, "value": own["storageUri"]}] if isinstance(own.get("storageUri"), str) else []
        added += more if isinstance(more, list) else []
        env = container.get("env")
        if added:
            container["env"] = merge_list(env if isinstance(env, list) else [], added, LISTS["env"], {})
        if secret := text(inner(own, "secretRef"), "name"):
            sources = container.get("envFrom")
            container["envFrom"] = [*(sources if isinstance(sources, list) else ()), {"secretRef": {"name": secret}}]
