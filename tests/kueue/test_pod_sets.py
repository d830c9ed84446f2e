"""A job with more pod sets than a Workload takes gets no Workload: the verdict on it, and why it waits."""

from __future__ import annotations

import json
from functools import cache

import pytest

from apiserver.agreement import hooks
from conftest import ROOT
from trainyard.base.labels import QUEUE
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog, webhooks
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.requests.jobs import NotMade, workloads

POD = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "i"}]}
JOB = {"template": {"spec": POD}}


def meta(name, **more):
    """Metadata of an object that is queued."""
    return {"name": name, "namespace": "hooks", "labels": {QUEUE: "team"}, **more}


def jobset(count):
    """A JobSet with so many replicated jobs."""
    jobs = [{"name": f"r{number}", "template": {"spec": JOB}} for number in range(count)]
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta("a")}
    return [{**head, "spec": {"replicatedJobs": jobs}}]


def appwrapper(count):
    """An AppWrapper of a JobSet with all but one of the pod sets, and a Job."""
    held = {**jobset(count - 1)[0], "metadata": {"name": "held"}}
    one = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": JOB}
    parts = [{"template": held}, {"template": one}]
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": meta("a")}
    return [{**head, "spec": {"components": parts}}]


def trainjob(count):
    """A TrainJob of a runtime with so many replicated jobs."""
    jobs = [{"name": f"r{number}", "template": {"spec": JOB}} for number in range(count - 1)]
    steps = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    jobs.append({"name": "node", "template": {"metadata": {"labels": steps}, "spec": JOB}})
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    runtime = {**head, "kind": "TrainingRuntime", "metadata": {"name": "many", "namespace": "hooks"}}
    runtime["spec"] = {"template": {"spec": {"replicatedJobs": jobs}}}
    ref = {"name": "many", "kind": "TrainingRuntime", "apiGroup": "trainer.kubeflow.org"}
    return [{**head, "kind": "TrainJob", "metadata": meta("a"), "spec": {"runtimeRef": ref}}, runtime]


def group(count):
    """A group of pods, each of which requests something else."""
    pods = []
    for number in range(count):
        metadata = meta(f"p{number}", annotations={"kueue.x-k8s.io/pod-group-total-count": str(count)})
        metadata["labels"] = {**metadata["labels"], "kueue.x-k8s.io/pod-group-name": "g"}
        box = {"name": "a", "image": "i", "resources": {"requests": {"cpu": str(number + 1)}}}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**POD, "containers": [box]}})
    return pods


MOST = {"0.16.2": 8, "0.17.8": 8, "0.18.6": 10, "0.19.2": 18}
KINDS = {"a JobSet": jobset, "an AppWrapper": appwrapper, "a TrainJob": trainjob, "a group of pods": group}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("release", MOST)
def test_one_pod_set_too_many_makes_no_workload(make, release):
    """The most that a release takes is one Workload; with one more there is none, and the reason has both numbers."""
    most, gates = MOST[release], Gates(release=release)
    (value, *others) = make(most)
    (made,) = workloads(value, [value, *others], gates)
    assert len(made["spec"]["podSets"]) == most
    (value, *others) = make(most + 1)
    with pytest.raises(NotMade, match=str(most)):
        workloads(value, [value, *others], gates)


@cache
def judge(release, *around):
    """A cluster with this release of Kueue, on which these objects are."""
    projects = {"kueue": release, "jobset": "0.12.0", "trainer": "2.3.0", "appwrapper": "1.2.1"}
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects=projects, declared=projects)
    there = [*hooks.read("around"), *map(json.loads, around)]
    return Judge(known, around=webhooks.gather_objects(there, complete=True))


def verdict(value, others, release):
    """What is said of an object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    found = judge(release, *map(json.dumps, others)).judge(manifest)
    return [finding.message for finding in found.findings if finding.rule == "webhook/kueue-pod-sets"]


@pytest.mark.parametrize("make", [jobset, trainjob])
def test_the_verdict_names_both_numbers(make):
    """An object that the server takes and that waits for ever is told, by the release; none that is not queued.

    AppWrapper's own webhook takes at most 8 pod sets.
    """
    (value, *others) = make(11)
    (said,) = verdict(value, others, "0.18.6")
    assert "has 11 pod sets, but a Workload takes at most 10" in said
    assert verdict(value, others, "0.19.2") == []
    assert verdict({**value, "metadata": {"name": "a", "namespace": "other"}}, others, "0.18.6") == []
