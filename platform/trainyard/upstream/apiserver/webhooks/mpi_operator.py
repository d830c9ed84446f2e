"""MPIJobs (v2beta1): without a webhook, the MPI operator refuses them at reconcile; verified against 0.8.2."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, child, count, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review

RULE = Rule(
    "webhook/mpijob",
    "mpi-operator v0.8.2 pkg/apis/kubeflow/validation/validation.go, refused at reconcile",
    title="An MPIJob passes the checks of the MPI operator.",
    fix="add a Launcher with 1 replica and a container; use one of the values that the message gives",
    why="the MPI operator refuses the job and never starts its pods",
)

OPERATOR = "kubeflow.org/mpi-operator"
_MANAGERS = (OPERATOR, "kueue.x-k8s.io/multikueue")
_POLICIES = ("All", "None", "Running")
_RESTARTS = ("Never", "OnFailure")
_IMPLEMENTATIONS = ("Intel", "MPICH", "OpenMPI")


def reconcile(review: Review) -> Iterator[Problem]:
    """Yield why the operator would never start an MPIJob; one that another controller manages it leaves alone."""
    if text(review.value, "apiVersion") != "kubeflow.org/v2beta1":
        return
    policy = inner(review.spec, "runPolicy")
    if text(policy, "managedBy") not in ("", OPERATOR):
        return
    specs = child(review.spec, "mpiReplicaSpecs")
    yield from _check_name(review.name, inner(specs or {}, "Worker"))
    path: Path = ("spec", "mpiReplicaSpecs")
    if not specs:
        yield RULE.required((*path, "Launcher") if specs is not None else path)
    else:
        yield from _check_roles(specs, path)
    yield from _check_policy(policy)
    if (slots := number(review.spec, "slotsPerWorker")) is not None and slots < 0:
        yield RULE.invalid(("spec", "slotsPerWorker"), slots, "must be greater than or equal to 0")
    implementation = text(review.spec, "mpiImplementation") or "OpenMPI"
    if implementation not in _IMPLEMENTATIONS:
        yield RULE.unsupported(("spec", "mpiImplementation"), implementation, _IMPLEMENTATIONS)


def _check_name(name: str, worker: Object) -> Iterator[Problem]:
    replicas = number(worker, "replicas") or 0
    host = f"{name}-worker-{max(replicas, 1) - 1}"
    if name and (detail := names.dns_label_1035(host)):
        yield RULE.invalid(("metadata", "name"), name, f"the host name {host!r} {detail}")


def _check_roles(specs: Object, path: Path) -> Iterator[Problem]:
    launcher, worker = child(specs, "Launcher"), child(specs, "Worker")
    if launcher is None:
        yield RULE.required((*path, "Launcher"))
    else:
        yield from _check_role(launcher, (*path, "Launcher"))
        if number(launcher, "replicas") not in (None, 1):
            yield RULE.invalid((*path, "Launcher", "replicas"), launcher["replicas"], "must be 1")
    if worker is not None:
        yield from _check_role(worker, (*path, "Worker"))
        if (number(worker, "replicas") or 0) <= 0:
            yield RULE.invalid((*path, "Worker", "replicas"), worker.get("replicas", 0), "must be at least 1")


def _check_role(spec: Object, path: Path) -> Iterator[Problem]:
    restart = text(spec, "restartPolicy") or "Never"
    if restart not in _RESTARTS:
        yield RULE.unsupported((*path, "restartPolicy"), restart, _RESTARTS)
    if not count(inner(spec, "template", "spec"), "containers"):
        yield RULE.required((*path, "template", "spec", "containers"))


def _check_policy(policy: Object) -> Iterator[Problem]:
    path: Path = ("spec", "runPolicy")
    clean = policy.get("cleanPodPolicy")
    if clean is not None and clean not in _POLICIES:
        yield RULE.unsupported((*path, "cleanPodPolicy"), clean, _POLICIES)
    for field in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit"):
        if (value := number(policy, field)) is not None and value < 0:
            yield RULE.invalid((*path, field), value, "must be greater than or equal to 0")
    if policy.get("managedBy") == "":
        yield RULE.unsupported((*path, "managedBy"), "", _MANAGERS)
