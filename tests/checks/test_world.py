"""What policies in Python look at: training jobs, their pods, and what those ask for."""

from __future__ import annotations

import pytest

from trainyard import checks
from trainyard.base.documents import load
from trainyard.base.manifests import expand
from trainyard.checks import Pods, World

JOBS = b"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm, namespace: nlp, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  replicatedJobs:
  - name: worker
    replicas: 2
    template:
      spec:
        parallelism: 4
        completions: 4
        template:
          metadata:
            annotations: {k8s.v1.cni.cncf.io/networks: "rail-0,net/rail-1", count: 5}
          spec:
            initContainers:
            - resources: {limits: {cpu: 500m}}
            containers:
            - resources:
                limits: {nvidia.com/gpu: 8, memory: [1Gi], cpu: "1.5"}
                requests: {cpu: 1}
            - text
            - resources: {limits: [8]}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: rubbish}
spec: {pytorchReplicaSpecs: {Master: {template: {spec: {containers: {a: 5}, initContainers: null}}}, Worker: 5}}
---
apiVersion: ray.io/v1
kind: RayService
metadata: {name: no-training}
spec: {rayClusterConfig: {headGroupSpec: {template: {}}}}
"""


@pytest.fixture
def world() -> World:
    """Two jobs and a service."""
    documents, _ = load(JOBS, file="jobs.yaml")
    return World(tuple(expand(documents)[0]))


def pods(world: World, name: str) -> Pods:
    """The one pod set of a job."""
    ((found,),) = (job.pod_sets() for job in world.training_jobs() if job.name == name)
    return found


def test_jobs_are_those_of_kinds_that_train(world: World) -> None:
    """Whatever trains is a training job, of whichever kind, and knows its queue."""
    found = {(job.name, job.namespace, job.queue_name, job.carrier.kind) for job in world.training_jobs()}
    assert found == {("llm", "nlp", "research", "JobSet"), ("rubbish", "default", None, "PyTorchJob")}


def test_pods_say_what_they_ask_for(world: World) -> None:
    """Amounts are quantities, each with its place; what is none is left to the schema."""
    found = pods(world, "llm")
    assert (found.name, found.count) == ("worker", 8)
    limits = [(str(place.location), resource, quantity.canonical()) for place, resource, quantity in found.limits()]
    assert limits == [
        ("jobs.yaml:17:41", "cpu", "500m"),
        ("jobs.yaml:20:42", "nvidia.com/gpu", "8"),
        ("jobs.yaml:20:65", "cpu", "1500m"),
    ]
    assert [limit.resource for limit in found.limits(init=False)] == ["nvidia.com/gpu", "cpu"]
    assert [(request.resource, request.quantity.value()) for request in found.requests()] == [("cpu", 1)]


def test_pods_say_what_networks_they_name(world: World) -> None:
    """Networks without a namespace are in the job's."""
    assert pods(world, "llm").networks() == [("nlp", "rail-0"), ("net", "rail-1")]
    assert set(pods(world, "llm").annotations) == {"k8s.v1.cni.cncf.io/networks"}


def test_malformed_pods_ask_for_nothing(world: World) -> None:
    """No shape raises: a policy needs no guards."""
    found = pods(world, "rubbish")
    assert (list(found.containers()), list(found.limits()), found.networks()) == ([], [], [])


def test_the_face_is_whole() -> None:
    """Every name that a policy may import is there."""
    assert all(getattr(checks, name) is not None for name in checks.__all__)


RUNTIMES = b"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: own, namespace: nlp}
spec:
  mlPolicy: {numNodes: 2}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            parallelism: 2
            completions: 2
            template: {spec: {containers: [{name: node, resources: {limits: {cpu: 1}}}]}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: as-it-is, namespace: nlp}
spec: {runtimeRef: {kind: TrainingRuntime, name: own}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bigger, namespace: nlp}
spec:
  runtimeRef: {kind: TrainingRuntime, name: own}
  trainer: {numNodes: 4}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: lost, namespace: nlp}
spec: {runtimeRef: {kind: TrainingRuntime, name: other}}
"""


def test_pods_of_a_trainjob_are_written_in_its_runtime() -> None:
    """They are looked at there, or in the job where it changes them; without the runtime nothing is known of them."""
    documents, _ = load(RUNTIMES, file="jobs.yaml")
    world = World(tuple(expand(documents)[0]))
    found = {
        job.name: [
            (pod_set.count, str(place.location)) for pod_set in job.pod_sets() for place, _, _ in pod_set.limits()
        ]
        for job in world.training_jobs()
    }
    assert found == {"as-it-is": [(2, "jobs.yaml:15:83")], "bigger": [(4, "jobs.yaml:26:3")], "lost": []}


def test_no_pods_are_looked_at_twice() -> None:
    """Among everything that runs, a runtime has the pods that jobs take from it as they are."""
    documents, _ = load(RUNTIMES, file="jobs.yaml")
    world = World(tuple(expand(documents)[0]))
    found = {job.name: [pod_set.count for pod_set in job.pod_sets()] for job in world.workloads()}
    assert found == {"own": [2], "as-it-is": [], "bigger": [4], "lost": []}
