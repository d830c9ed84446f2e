"""Pods of a TrainJob are those of its runtime, as Trainer changes it and Kueue counts it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from trainyard.upstream.workloads import pod_sets_of, runtime_of, written_object

API = "trainer.kubeflow.org/v1alpha1"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def job(name: str, *, step: str = "", container: str = "node", **spec: Any) -> Any:
    """Return a job of a runtime."""
    pod = {"containers": [{"name": container, "image": "runtime", "env": [{"name": "A", "value": "1"}]}]}
    labels = {"metadata": {"labels": {STEP: step}}} if step else {}
    return {"name": name, "template": {**labels, "spec": {**spec, "template": {"spec": pod}}}}


def runtime(*jobs: Any, kind: str = "ClusterTrainingRuntime", **policy: Any) -> dict[str, Any]:
    """Return a runtime of these jobs."""
    of = {"namespace": "nlp"} if kind == "TrainingRuntime" else {}
    spec = {"template": {"spec": {"replicatedJobs": list(jobs)}}, **({"mlPolicy": policy} if policy else {})}
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "torch", **of}, "spec": spec}


def train_job(kind: str | None = None, **spec: Any) -> dict[str, Any]:
    """Return a TrainJob that names the runtime."""
    reference = {"name": "torch", **({"kind": kind} if kind else {})}
    return {
        "apiVersion": API,
        "kind": "TrainJob",
        "metadata": {"namespace": "nlp"},
        "spec": {"runtimeRef": reference, **spec},
    }


def counts(value: dict[str, Any], *others: dict[str, Any]) -> list[tuple[str, int]]:
    """Return names and numbers of a workload's pods."""
    return [(item.name, item.count) for item, _ in pod_sets_of(value, [value, *others])]


NODE = job("node", step="trainer")
MPI = (job("node"), job("launcher", step="trainer"))
COUNTS = {
    "the runtime's own number": (runtime(NODE, numNodes=3), {}, [("node", 3)]),
    "numNodes of the TrainJob goes before": (runtime(NODE, numNodes=3, torch={}), {"numNodes": 5}, [("node", 5)]),
    "a job without a policy": (runtime(NODE), {"numNodes": 5}, [("node", 5)]),
    "what the job says where nobody asks": (
        runtime(job("node", step="trainer", parallelism=4, completions=2)),
        {},
        [("node", 4)],
    ),
    "one, where a policy says nothing": (
        runtime(job("node", step="trainer", parallelism=4), torch={}),
        {},
        [("node", 1)],
    ),
    "jobs that nothing speaks of": (
        runtime(job("ps", parallelism=2, completions=2), NODE, numNodes=3),
        {"numNodes": 4},
        [("ps", 2), ("node", 4)],
    ),
    "MPI's nodes, and its launcher beside them": (
        runtime(*MPI, numNodes=1, mpi={"runLauncherAsNode": False}),
        {"numNodes": 4},
        [("node", 4), ("launcher", 1)],
    ),
    "MPI's launcher as a node": (
        runtime(*MPI, numNodes=1, mpi={"runLauncherAsNode": True}),
        {"numNodes": 4},
        [("node", 3), ("launcher", 1)],
    ),
    "a gang of two, one of which is the launcher": (
        runtime(*MPI, numNodes=1, mpi={"runLauncherAsNode": True}),
        {"numNodes": 1},
        [("node", 1), ("launcher", 1)],
    ),
}


@pytest.mark.parametrize(("runtime", "trainer", "expected"), COUNTS.values(), ids=COUNTS)
def test_kueue_counts_what_trainer_makes(runtime, trainer, expected):
    """Numbers are those of trainer v2.3.0 under kueue v0.19.2, in the order of the runtime's jobs."""
    assert counts(train_job(trainer=trainer), runtime) == expected


def found(value: dict[str, Any], runtime: dict[str, Any]) -> dict[str, Any]:
    """Return the first container of a TrainJob's pods."""
    ((_, template), *_) = pod_sets_of(value, [runtime])
    container: dict[str, Any] = template["spec"]["containers"][0]
    return container


def test_a_trainjob_fills_its_container():
    """Image, command and arguments are replaced, variables added by name, and resources where there is a policy."""
    trainer = {
        "image": "mine",
        "args": ["--epochs", "3"],
        "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "3"}],
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}},
    }
    container = found(train_job(trainer=trainer), runtime(NODE, torch={}))
    assert (container["image"], container["args"]) == ("mine", ["--epochs", "3"])
    assert container["env"] == [{"name": "A", "value": "2"}, {"name": "B", "value": "3"}]
    assert container["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert "resources" not in found(train_job(trainer=trainer), runtime(NODE))


def test_a_container_of_another_name_stays():
    """Trainer speaks of the container called node."""
    assert (
        found(train_job(trainer={"image": "mine"}), runtime(job("node", step="trainer", container="x")))["image"]
        == "runtime"
    )


def test_patches_reach_the_pods():
    """Patches are merged in their order, by the name of the runtime's job; those of other jobs reach nothing."""
    pod = {"metadata": {"annotations": {"a": "b"}}, "spec": {"nodeSelector": {"pool": "gpu"}}}
    patches = [
        {"manager": "x", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [
            {"name": name, "template": {"spec": {"template": pod}}} for name in ("node", "other")
        ]}}}}
    ]  # fmt: skip
    ((_, template),) = pod_sets_of(train_job(runtimePatches=patches), [runtime(NODE)])
    assert template["metadata"]["annotations"] == {"a": "b"}
    assert template["spec"]["nodeSelector"] == {"pool": "gpu"}


def test_a_runtime_that_nothing_changes_is_itself():
    """What a TrainJob does not change is written in the runtime, and is looked at there."""
    same = runtime(job("node", step="trainer", parallelism=2, completions=2), kind="TrainingRuntime", numNodes=2)
    before = deepcopy(same)
    assert written_object(train_job("TrainingRuntime", trainer={"numNodes": 2}), lambda _: same) is same
    changed = written_object(train_job("TrainingRuntime", trainer={"numNodes": 3}), lambda _: same)
    assert changed is not same
    assert same == before


def test_runtimes_are_found_by_kind_and_namespace():
    """Without a kind it is a runtime of the cluster; one of the namespace is no other namespace's."""
    assert runtime_of(train_job()) == ("trainer.kubeflow.org", "ClusterTrainingRuntime", "", "torch")
    assert runtime_of(train_job("TrainingRuntime")) == ("trainer.kubeflow.org", "TrainingRuntime", "nlp", "torch")
    assert runtime_of(runtime()) is None
    assert counts(train_job("TrainingRuntime"), runtime(NODE)) == []
    assert counts(train_job(), runtime(NODE)) == [("node", 1)]


SAID = {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": 5}}]}}}
LABELLED = {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": {"spec": {"containers": {}}}}}
DAMAGED = {
    "a runtime without jobs": (runtime(), {}),
    "a job that is text": (runtime("node"), {}),
    "a pod that is text": (runtime({"name": "node", "template": {"spec": {"template": {"spec": "x"}}}}), {}),
    "containers that are a map": (runtime({"name": "node", "template": LABELLED}), {"trainer": {"image": "x"}}),
    "a trainer that is a list": (runtime(NODE), {"trainer": []}),
    "patches that are text": (runtime(NODE), {"runtimePatches": "x"}),
    "a patch that takes the template away": (runtime(NODE), {"runtimePatches": [{"trainingRuntimeSpec": SAID}]}),
    "variables that are a map": (runtime(NODE), {"trainer": {"env": {}, "resourcesPerNode": [], "numNodes": "2"}}),
}


@pytest.mark.parametrize(("runtime", "spec"), DAMAGED.values(), ids=DAMAGED)
def test_no_shape_raises(runtime, spec):
    """The schema says what is malformed."""
    pod_sets_of(train_job(**spec), [runtime])
