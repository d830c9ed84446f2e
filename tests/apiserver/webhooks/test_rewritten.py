"""What a webhook's answer writes into an object, by the schema of its kind, before that schema is looked at."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from trainyard.base.findings import Severity
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog
from trainyard.upstream.apiserver.webhooks import rewritten

Object = dict[str, Any]
GONE: Any = object()
QUEUE = {"kueue.x-k8s.io/queue-name": "research"}


@cache
def a_judge() -> Judge:
    """A cluster with the operators whose webhooks rewrite jobs."""
    projects = {"kueue": None, "jobset": None, "lws": None, "volcano": None, "trainer": None, "training-operator": None}
    known, _ = catalog.load(schemas_dir(None), kubernetes="1.35", projects=projects)
    return Judge(known, refused_later=Severity.WARNING)


def judged(value: Object) -> str:
    """Judge one object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return a_judge().judge(manifest).verdict


def a_pod(**container: Any) -> Object:
    """A pod's template with one container."""
    filled = {"name": "main", "image": "registry.example.com/a:1", **container}
    return {"spec": {"containers": [{key: part for key, part in filled.items() if part is not GONE}]}}


def a_job_set(**container: Any) -> Object:
    """A JobSet, which its webhook always changes."""
    job = {"name": "node", "template": {"spec": {"template": a_pod(**container)}}}
    return an_object("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [job]})


def a_pytorch_job(labels: Object, template: Object) -> Object:
    """A PyTorchJob, which Kueue's webhook changes where it is queued."""
    specs = {"Worker": {"replicas": 1, "template": template}}
    value = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": specs})
    value["metadata"]["labels"] = labels
    return value


def a_volcano_job(task: Object, **container: Any) -> Object:
    """A Volcano Job, whose tasks its webhook replaces where one lacks something."""
    container = {"name": "main", **container}
    spec = {"tasks": [{"name": "node", "replicas": 1, "template": a_pod(**container), **task}]}
    return an_object("batch.volcano.sh/v1alpha1", "Job", spec)


def an_object(api_version: str, kind: str, spec: Object) -> Object:
    """An object of some kind."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "run", "namespace": "nlp"}, "spec": spec}


ENV = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a"}}}]
SPELLED = {"minAvailable": 1, "maxRetry": 3}

CASES = {
    "a required text is written empty": (a_job_set(env=ENV), "valid"),
    "a required port is written as zero": (a_job_set(lifecycle={"preStop": {"httpGet": {"path": "/"}}}), "valid"),
    "the key of a list is missed before": (a_job_set(name=GONE), "invalid"),
    "a null key is the empty one": (a_job_set(name=None), "valid"),
    "a null quantity is zero": (a_job_set(resources={"limits": {"cpu": None}}), "valid"),
    "null in a list of texts is the empty text": (a_job_set(args=["a", None]), "valid"),
    "null in a list with keys is refused before": (a_job_set(env=[None]), "invalid"),
    "null that is left out stays, and is refused": (a_job_set(command=None), "invalid"),
    "a struct that is null is an empty one": (a_job_set(resources=None), "valid"),
    "a number that is no text is not written over": (a_job_set(image=1), "invalid"),
    "what is not queued is not written": (
        a_pytorch_job({}, a_pod(name="pytorch", env=ENV)),
        "invalid",
    ),
    "what is queued is": (a_pytorch_job(QUEUE, a_pod(name="pytorch", env=ENV)), "valid"),
    "a queued template without a pod says that its containers are null": (a_pytorch_job(QUEUE, {}), "invalid"),
    "tasks are replaced whole, without nulls": (a_volcano_job({}, command=None), "valid"),
    "tasks that spell all out stay as they are": (a_volcano_job(SPELLED, command=None), "invalid"),
}


@pytest.mark.parametrize(("value", "verdict"), CASES.values(), ids=CASES)
def test_schemas_see_what_webhooks_wrote(value: Object, verdict: str) -> None:
    """As labelled by a Kubernetes 1.35.4 with the operators running."""
    assert judged(value) == verdict


def test_a_conversion_leaves_out_what_is_empty() -> None:
    """Null, empty text, and empty lists and maps go where they are not required; what a pointer holds stays."""
    kind = a_judge().catalog.lookup("kueue.x-k8s.io", "v1beta1", "ClusterQueue")
    assert isinstance(kind, catalog.Kind)
    spec: Object = {"cohort": "", "stopPolicy": "", "admissionChecks": [], "preemption": {}, "fairSharing": None}
    assert rewritten.encode_value(spec, kind.schema["properties"]["spec"]) == {"stopPolicy": "", "preemption": {}}


NODES = {"env": [{"name": "PET_NNODES", "value": "1"}]}
RUNTIMES = {
    "one that Trainer brings": ("torch-distributed", {}, "valid"),
    "a variable that its runtime sets": (
        "torch-distributed",
        {"env": [{"name": "PET_NNODES", "value": "1"}]},
        "invalid",
    ),
    "the same with another framework": ("jax-distributed", NODES, "valid"),
    "one that is not known": ("ours", {}, "unknown"),
}


@pytest.mark.parametrize(("runtime", "trainer", "verdict"), RUNTIMES.values(), ids=RUNTIMES)
def test_a_train_job_is_judged_by_its_runtime(runtime: str, trainer: Object, verdict: str) -> None:
    """Those that Trainer brings are known; without its runtime a TrainJob cannot be judged."""
    spec = {"runtimeRef": {"name": runtime}, "trainer": trainer}
    assert judged(an_object("trainer.kubeflow.org/v1alpha1", "TrainJob", spec)) == verdict
