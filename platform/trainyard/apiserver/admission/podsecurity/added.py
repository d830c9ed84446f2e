"""Containers that operators add to pods without a security context of their own, and pods that they make so.

Sources: training-operator v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, mpi/mpijob_controller.go; kuberay v1.6.2
ray-operator/controllers/ray/common/pod.go BuildAutoscalerContainer, common/job.go GetSubmitterTemplate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.apiserver.admission.podsecurity.installs import Containers
from trainyard.apiserver.admission.podsecurity.pods import Container, Pod
from trainyard.apiserver.admission.podsecurity.settings import Settings
from trainyard.apiserver.core.shapes import Object, below, child, count, flag, inner, text
from trainyard.apiserver.problems import Path
from trainyard.carriers import Carrier, Template
from trainyard.manifests import value_at

_RAY, _KUBEFLOW = "ray.io", "kubeflow.org"
_SUBMITTER, _SUBMITTED = "ray-job-submitter", "submitter"
_SIDECARS = "give the sidecars of the operator's configuration a security context"


class Made(NamedTuple):
    """A pod that is made of an object: as it is written, and as it comes to be."""

    written: Pod
    complete: Pod
    """The same with what the operator adds."""
    remedy: str = ""
    """What to do about containers that the operator adds without a security context."""
    configurable: bool = False
    """Whether the operator's own settings may change what it adds, and are not known."""
    place: Path = ()
    """What of the object stands for the pod, where the pod is written in another."""


def complete(value: Object, row: Carrier, template: Template, pod: Pod, settings: Settings) -> Made:
    """Return a pod of one of a kind's templates with the containers that an operator adds to it."""
    if row.group == _KUBEFLOW:
        return _of_kubeflow(value, row.kind, template, pod, settings)
    if row.group == _RAY and template.name != _SUBMITTED:
        own = list(_in_head(value, row, template, pod)) if template.name == "head" else []
        sidecars = settings.sidecars.get("head" if template.name == "head" else "worker", ())
        more = (*(container for container, _ in own), *_told(sidecars, pod, "containers", len(own)))
        remedies = [remedy for _, remedy in own] + ([_SIDECARS] if sidecars else [])
        return Made(pod, Pod(pod.value, pod.path, more), " and ".join(remedies))
    return Made(pod, pod)


def submitter(value: Object, row: Carrier, at: Path) -> Iterator[Made]:
    """Yield the pod that KubeRay makes to submit a job that has no template for it; `at` is the job's place."""
    template = row.template(_SUBMITTED)
    if template is None or value_at(value, template.pattern) is not None:
        return
    if _mode(below(value, template.holder)) == "K8sJobMode":
        path = (*at, *template.pattern)
        container = Container(_SUBMITTER, {}, (*path, "spec", "containers", 0))
        remedy = f"write a {template.pattern[-1]} with security contexts"
        yield Made(Pod({}, path), Pod({}, path, (container,)), remedy)


def _of_kubeflow(value: Object, kind: str, template: Template, pod: Pod, settings: Settings) -> Made:
    at, role = pod.at("initContainers", count(pod.spec, "initContainers")), pod.path[-2]
    has_master = child(below(value, template.collection), "Master") is not None
    if kind == "PyTorchJob" and role == "Worker" and has_master:
        told = settings.waits
        more = (Container("init-pytorch", {}, at),) if told is None else _told(told, pod, "initContainers")
        remedy = "give the operator a template of this container with a security context"
        return Made(pod, Pod(pod.value, pod.path, more), remedy, configurable=told is None)
    if kind == "MPIJob" and role == "Launcher" and text(value, "apiVersion") == "kubeflow.org/v1":
        delivery = Container("kubectl-delivery", {}, at)
        return Made(pod, Pod(pod.value, pod.path, (delivery,)), "use kubeflow.org/v2beta1 of the MPI operator")
    return Made(pod, pod)


def _told(containers: Containers, pod: Pod, field: str, before: int = 0) -> tuple[Container, ...]:
    """Return containers of an operator's settings behind those of a list of the pod, and some others that it adds."""
    first = count(pod.spec, field) + before
    return tuple(
        Container(text(value, "name"), value, pod.at(field, first + index)) for index, value in enumerate(containers)
    )


def _in_head(value: Object, row: Carrier, head: Template, pod: Pod) -> Iterator[tuple[Container, str]]:
    cluster, at = below(value, head.holder[:-1]), pod.at("containers", count(pod.spec, "containers"))
    if flag(cluster, "enableInTreeAutoscaling"):
        autoscaler = Container("autoscaler", inner(cluster, "autoscalerOptions"), at)
        yield autoscaler, "set securityContext in autoscalerOptions"
    job = row.template(_SUBMITTED)
    if job is not None and _mode(below(value, job.holder)) == "SidecarMode":
        yield Container(_SUBMITTER, {}, at), "choose another submissionMode"


def _mode(job: Object) -> str:
    return text(job, "submissionMode") or "K8sJobMode"
