"""Pod templates: the fields in which kinds keep the pods that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.apiserver.admission.podsecurity.added import KUBEFLOW, RAY, Made, complete, submitter
from trainyard.apiserver.admission.podsecurity.pods import Pod
from trainyard.apiserver.core.shapes import Object, inner, text
from trainyard.apiserver.problems import Path
from trainyard.apiserver.webhooks.around import Around, namespace_of

_TRAINER = "trainer.kubeflow.org"
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
    (KUBEFLOW, "JAXJob"): (("spec", "jaxReplicaSpecs", _ITEMS, "template"),),
    (KUBEFLOW, "MPIJob"): (("spec", "mpiReplicaSpecs", _ITEMS, "template"),),
    (KUBEFLOW, "PaddleJob"): (("spec", "paddleReplicaSpecs", _ITEMS, "template"),),
    (KUBEFLOW, "PyTorchJob"): (("spec", "pytorchReplicaSpecs", _ITEMS, "template"),),
    (KUBEFLOW, "TFJob"): (("spec", "tfReplicaSpecs", _ITEMS, "template"),),
    (KUBEFLOW, "XGBoostJob"): (("spec", "xgbReplicaSpecs", _ITEMS, "template"),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (("spec", *_LEADER), ("spec", *_FOLLOWERS)),
    (RAY, "RayCluster"): (("spec", *_HEAD), ("spec", *_WORKERS)),
    (RAY, "RayCronJob"): tuple(("spec", "jobTemplate", *path) for path in _RAY_JOB),
    (RAY, "RayJob"): tuple(("spec", *path) for path in _RAY_JOB),
    (RAY, "RayService"): (("spec", "rayClusterConfig", *_HEAD), ("spec", "rayClusterConfig", *_WORKERS)),
    (_TRAINER, "TrainingRuntime"): (("spec", "template", "spec", *_JOBS),),
}
"""By group and kind: where pod templates stand."""

IDLE = frozenset({("", "PodTemplate"), ("flow.volcano.sh", "JobTemplate"), (_TRAINER, "TrainingRuntime")})
"""Kinds of which no pod is made until another object asks for it."""

WRAPPER = ("workload.codeflare.dev", "AppWrapper")
"""The kind that embeds objects of others."""


def made(value: Object, kind: tuple[str, str], around: Around, at: Path = ()) -> Iterator[Made]:
    """Yield every pod that an object of a kind has; `at` is where the object itself is embedded."""
    for pattern in PATHS.get(kind, ()):
        for path, template in matches(value, pattern):
            pod = Pod(template, (*at, *path))
            if pod.spec:
                yield complete(value, kind, pod)
    yield from submitter(value, kind, at)
    if kind == (_TRAINER, "TrainJob"):
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
