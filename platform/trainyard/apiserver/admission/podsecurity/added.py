"""Containers that operators add to pods without a security context of their own, and pods that they make so.

Sources: training-operator v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, mpi/mpijob_controller.go; kuberay v1.6.2
ray-operator/controllers/ray/common/pod.go BuildAutoscalerContainer, common/job.go GetSubmitterTemplate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.apiserver.admission.podsecurity.pods import Container, Pod
from trainyard.apiserver.core.shapes import Object, child, count, flag, inner, text
from trainyard.apiserver.problems import Path

RAY, KUBEFLOW = "ray.io", "kubeflow.org"
CLUSTERS: dict[tuple[str, str], tuple[str, ...]] = {
    (RAY, "RayCluster"): ("spec",),
    (RAY, "RayCronJob"): ("spec", "jobTemplate", "rayClusterSpec"),
    (RAY, "RayJob"): ("spec", "rayClusterSpec"),
    (RAY, "RayService"): ("spec", "rayClusterConfig"),
}
"""Where the specification of a Ray cluster stands."""

JOBS: dict[tuple[str, str], tuple[str, ...]] = {
    (RAY, "RayCronJob"): ("spec", "jobTemplate"),
    (RAY, "RayJob"): ("spec",),
}
"""Where the specification of a Ray job stands."""

_SUBMITTER = "ray-job-submitter"


class Made(NamedTuple):
    """A pod that is made of an object: as it is written, and as it comes to be."""

    written: Pod
    complete: Pod
    """The same with what the operator adds."""
    remedy: str = ""
    """What to do about containers that the operator adds without a security context."""
    configurable: bool = False
    """Whether the operator's own settings may change what it adds."""
    place: Path = ()
    """What of the object stands for the pod, where the pod is written in another."""


def complete(value: Object, kind: tuple[str, str], pod: Pod) -> Made:
    """Return a pod with the containers that an operator adds to it."""
    if kind[0] == KUBEFLOW:
        return _of_kubeflow(value, kind[1], pod)
    if kind in CLUSTERS and pod.path[-2:] == ("headGroupSpec", "template"):
        more = list(_in_head(value, kind, pod))
        remedies = " and ".join(remedy for _, remedy in more)
        return Made(pod, Pod(pod.value, pod.path, tuple(container for container, _ in more)), remedies)
    return Made(pod, pod)


def submitter(value: Object, kind: tuple[str, str], at: Path) -> Iterator[Made]:
    """Yield the pod that KubeRay makes to submit a job that has no template for it; `at` is the job's place."""
    if kind in JOBS:
        spec = inner(value, *JOBS[kind])
        if _mode(spec) == "K8sJobMode" and child(spec, "submitterPodTemplate") is None:
            path = (*at, *JOBS[kind], "submitterPodTemplate")
            container = Container(_SUBMITTER, {}, (*path, "spec", "containers", 0))
            remedy = "write a submitterPodTemplate with security contexts"
            yield Made(Pod({}, path), Pod({}, path, (container,)), remedy)


def _of_kubeflow(value: Object, kind: str, pod: Pod) -> Made:
    at, role = pod.at("initContainers", count(pod.spec, "initContainers")), pod.path[-2]
    has_master = child(inner(value, "spec", "pytorchReplicaSpecs"), "Master") is not None
    if kind == "PyTorchJob" and role == "Worker" and has_master:
        init = Container("init-pytorch", {}, at)
        remedy = "give the operator a template of this container with a security context"
        return Made(pod, Pod(pod.value, pod.path, (init,)), remedy, configurable=True)
    if kind == "MPIJob" and role == "Launcher" and text(value, "apiVersion") == "kubeflow.org/v1":
        delivery = Container("kubectl-delivery", {}, at)
        return Made(pod, Pod(pod.value, pod.path, (delivery,)), "use kubeflow.org/v2beta1 of the MPI operator")
    return Made(pod, pod)


def _in_head(value: Object, kind: tuple[str, str], pod: Pod) -> Iterator[tuple[Container, str]]:
    cluster, at = inner(value, *CLUSTERS[kind]), pod.at("containers", count(pod.spec, "containers"))
    if flag(cluster, "enableInTreeAutoscaling"):
        autoscaler = Container("autoscaler", inner(cluster, "autoscalerOptions"), at)
        yield autoscaler, "set securityContext in autoscalerOptions"
    if kind in JOBS and _mode(inner(value, *JOBS[kind])) == "SidecarMode":
        yield Container(_SUBMITTER, {}, at), "choose another submissionMode"


def _mode(job: Object) -> str:
    return text(job, "submissionMode") or "K8sJobMode"
