"""Where kinds keep the pods that are made of them, and the containers that their operators add.

Sources of what is added: training-operator v1.9.4 pkg/controller.v1/pytorch/initcontainer.go; kuberay v1.6.2
ray-operator/controllers/ray/common/pod.go BuildAutoscalerContainer, common/job.go GetSubmitterTemplate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.api.core.shapes import Object, child, count, flag, inner, text
from trainyard.api.podsecurity.pods import Container, Pod
from trainyard.api.problems import Path
from trainyard.api.webhooks.around import Around, namespace_of

_RAY, _KUBEFLOW, _TRAINER = "ray.io", "kubeflow.org", "trainer.kubeflow.org"
_ITEMS = "*"
"""Every item of a list, or value of a map."""

_SPEC: Path = ("spec", "template")
_HEAD: Path = ("headGroupSpec", "template")
_WORKERS: Path = ("workerGroupSpecs", _ITEMS, "template")
_LEADER: Path = ("leaderWorkerTemplate", "leaderTemplate")
_FOLLOWERS: Path = ("leaderWorkerTemplate", "workerTemplate")
_JOBS: Path = ("replicatedJobs", _ITEMS, "template", "spec", "template")
_TASKS: Path = ("tasks", _ITEMS, "template")
_RAY_JOB: tuple[Path, ...] = (
    ("rayClusterSpec", *_HEAD),
    ("rayClusterSpec", *_WORKERS),
    ("submitterPodTemplate",),
)

PATHS: dict[tuple[str, str], tuple[Path, ...]] = {
    ("", "Pod"): ((),),
    ("", "PodTemplate"): (("template",),),
    ("", "ReplicationController"): (_SPEC,),
    ("apps", "DaemonSet"): (_SPEC,),
    ("apps", "Deployment"): (_SPEC,),
    ("apps", "ReplicaSet"): (_SPEC,),
    ("apps", "StatefulSet"): (_SPEC,),
    ("batch", "CronJob"): (("spec", "jobTemplate", "spec", "template"),),
    ("batch", "Job"): (_SPEC,),
    ("batch.volcano.sh", "CronJob"): (("spec", "jobTemplate", "spec", *_TASKS),),
    ("batch.volcano.sh", "Job"): (("spec", *_TASKS),),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): (
        ("spec", "roles", _ITEMS, "spec", *_LEADER),
        ("spec", "roles", _ITEMS, "spec", *_FOLLOWERS),
    ),
    ("flow.volcano.sh", "JobTemplate"): (("spec", *_TASKS),),
    ("jobset.x-k8s.io", "JobSet"): (("spec", *_JOBS),),
    ("keda.sh", "ScaledJob"): (("spec", "jobTargetRef", "template"),),
    (_KUBEFLOW, "JAXJob"): (("spec", "jaxReplicaSpecs", _ITEMS, "template"),),
    (_KUBEFLOW, "MPIJob"): (("spec", "mpiReplicaSpecs", _ITEMS, "template"),),
    (_KUBEFLOW, "PaddleJob"): (("spec", "paddleReplicaSpecs", _ITEMS, "template"),),
    (_KUBEFLOW, "PyTorchJob"): (("spec", "pytorchReplicaSpecs", _ITEMS, "template"),),
    (_KUBEFLOW, "TFJob"): (("spec", "tfReplicaSpecs", _ITEMS, "template"),),
    (_KUBEFLOW, "XGBoostJob"): (("spec", "xgbReplicaSpecs", _ITEMS, "template"),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (("spec", *_LEADER), ("spec", *_FOLLOWERS)),
    (_RAY, "RayCluster"): (("spec", *_HEAD), ("spec", *_WORKERS)),
    (_RAY, "RayCronJob"): tuple(("spec", "jobTemplate", *path) for path in _RAY_JOB),
    (_RAY, "RayJob"): tuple(("spec", *path) for path in _RAY_JOB),
    (_RAY, "RayService"): (("spec", "rayClusterConfig", *_HEAD), ("spec", "rayClusterConfig", *_WORKERS)),
    (_TRAINER, "TrainingRuntime"): (("spec", "template", "spec", *_JOBS),),
}
"""By group and kind: where pod templates stand."""

IDLE = frozenset({("", "PodTemplate"), ("flow.volcano.sh", "JobTemplate"), (_TRAINER, "TrainingRuntime")})
"""Kinds of which no pod is made until another object asks for it."""

WRAPPER = ("workload.codeflare.dev", "AppWrapper")
"""The kind that embeds objects of others."""

CLUSTERS: dict[tuple[str, str], tuple[str, ...]] = {
    (_RAY, "RayCluster"): ("spec",),
    (_RAY, "RayCronJob"): ("spec", "jobTemplate", "rayClusterSpec"),
    (_RAY, "RayJob"): ("spec", "rayClusterSpec"),
    (_RAY, "RayService"): ("spec", "rayClusterConfig"),
}
"""Where the specification of a Ray cluster stands."""


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


def made(value: Object, kind: tuple[str, str], around: Around, at: Path = ()) -> Iterator[Made]:
    """Yield every pod that an object of a kind has; `at` is where the object itself is embedded."""
    for pattern in PATHS.get(kind, ()):
        for path, template in matches(value, pattern):
            pod = Pod(template, (*at, *path))
            if pod.spec:
                yield with_added(value, kind, pod)
    if kind == (_RAY, "RayJob") and _mode(value) == "K8sJobMode" and not inner(value, "spec", "submitterPodTemplate"):
        path = (*at, "spec", "submitterPodTemplate")
        submitter = Container(_SUBMITTER, {}, (*path, "spec", "containers", 0))
        yield Made(Pod({}, path), Pod({}, path, (submitter,)), "write a submitterPodTemplate with security contexts")
    elif kind == (_TRAINER, "TrainJob"):
        yield from of_runtime(value, around, at)
    elif kind == WRAPPER:
        for path, embedded in matches(value, ("spec", "components", _ITEMS, "template")):
            group = text(embedded, "apiVersion").rpartition("/")[0]
            if (group, text(embedded, "kind")) != WRAPPER:
                yield from made(embedded, (group, text(embedded, "kind")), around, (*at, *path))


def of_runtime(job: Object, around: Around, at: Path) -> Iterator[Made]:
    """Yield the pods of a TrainJob, which are written in its runtime; none where the job patches them."""
    spec = inner(job, "spec")
    if spec.get("runtimePatches") or spec.get("podTemplateOverrides"):
        return
    reference = inner(spec, "runtimeRef")
    kind = text(reference, "kind") or "ClusterTrainingRuntime"
    namespace = namespace_of(job) if kind == "TrainingRuntime" else None
    runtime = around.find(_TRAINER, kind, text(reference, "name"), namespace=namespace)
    if runtime is not None:
        for path, template in matches(runtime, ("spec", "template", "spec", *_JOBS)):
            pod = Pod(template, path)
            yield Made(pod, pod, place=(*at, "spec", "runtimeRef"))


def matches(value: Any, pattern: Path, at: Path = ()) -> Iterator[tuple[Path, Object]]:
    """Yield path and value of every map at a pattern."""
    if not pattern:
        if type(value) is dict:
            yield at, value
    elif pattern[0] == _ITEMS:
        items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
        for key, item in items:
            yield from matches(item, pattern[1:], (*at, key))
    elif type(value) is dict:
        yield from matches(value.get(pattern[0]), pattern[1:], (*at, pattern[0]))


def with_added(value: Object, kind: tuple[str, str], pod: Pod) -> Made:
    """Return a pod with the containers that an operator adds to it."""
    if kind == (_KUBEFLOW, "PyTorchJob"):
        if pod.path[-2] == "Worker" and child(inner(value, "spec", "pytorchReplicaSpecs"), "Master") is not None:
            init = Container("init-pytorch", {}, pod.at("initContainers", count(pod.spec, "initContainers")))
            remedy = "give the operator a template of this container with a security context"
            return Made(pod, Pod(pod.value, pod.path, (init,)), remedy, configurable=True)
    elif kind in CLUSTERS and pod.path[-2:] == _HEAD:
        more = list(_in_head(value, kind, pod))
        remedies = " and ".join(remedy for _, remedy in more)
        return Made(pod, Pod(pod.value, pod.path, tuple(container for container, _ in more)), remedies)
    return Made(pod, pod)


def _in_head(value: Object, kind: tuple[str, str], pod: Pod) -> Iterator[tuple[Container, str]]:
    cluster, at = inner(value, *CLUSTERS[kind]), pod.at("containers", count(pod.spec, "containers"))
    if flag(cluster, "enableInTreeAutoscaling"):
        autoscaler = Container("autoscaler", inner(cluster, "autoscalerOptions"), at)
        yield autoscaler, "set securityContext in autoscalerOptions"
    if kind == (_RAY, "RayJob") and _mode(value) == "SidecarMode":
        yield Container(_SUBMITTER, {}, at), "choose another submissionMode"


def _mode(value: Object) -> str:
    return text(inner(value, "spec"), "submissionMode") or "K8sJobMode"
