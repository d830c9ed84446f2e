"""Webhook rules of the operators, against what the operators' own webhooks said of thousands of changed objects.

`creates.jsonl` was recorded on Kubernetes 1.35.4 with Kueue 0.19.2, JobSet 0.12.0, Trainer 2.3.0, training-operator
1.9.4, KubeRay 1.6.2, MPI operator 0.8.2, LeaderWorkerSet 0.9.0 and Volcano 1.14.1: a base, its edits, who refused it
and why. `updates.jsonl` holds an object, a change applied to it, and the same answer. `test_older_webhooks.py` has the
answers of other releases.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from apiserver.agreement import hooks
from conftest import ROOT
from trainyard.base.findings import Severity
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog, webhooks

PROJECTS = {**hooks.PROJECTS, "volcano": "1.14.1", "appwrapper": None}
SAMPLE = 9
"""One recorded case in so many is judged in the quick test."""


@cache
def a_judge(*, complete=True, later=Severity.WARNING):
    """A cluster with all operators; `complete` where nothing but what is recorded exists."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects=PROJECTS)
    around = webhooks.gather_objects(hooks.read("around"), complete=complete)
    return Judge(known, around=around, refused_later=later)


def judged(value, *, old=None, judge=None):
    """Judge one object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return (judge or a_judge()).judge(manifest, old=old)


def recorded(name):
    """The lines of a recording."""
    return [json.loads(line) for line in (hooks.FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def disagreements(cases):
    """The recorded creations of which we say something else."""
    bases, edits = hooks.read("bases"), hooks.read("edits")
    for name, picks, by, reason in cases:
        value = hooks.change(bases[name], edits[name], [tuple(pick) for pick in picks])
        found = judged(value)
        if (by == "valid") != (found.verdict == "valid"):
            yield name, picks, by, reason, [finding.message for finding in found.findings]


def test_a_sample_of_creations_is_judged_as_the_webhooks_did():
    """Neither accepted nor refused otherwise than on the server."""
    assert list(disagreements(recorded("creates")[::SAMPLE])) == []


@pytest.mark.slow
def test_all_creations_are_judged_as_the_webhooks_did():
    """The same of every recorded case."""
    assert list(disagreements(recorded("creates"))) == []


def test_updates_are_judged_as_the_webhooks_did():
    """What may change, and what may not, of queued and of other objects."""
    bases, wrong = hooks.read("bases"), []
    for name, before, after, by, reason in recorded("updates"):
        old = edited(bases[name], before)
        found = judged(edited(old, after), old=old)
        if (by == "valid") != (found.verdict == "valid"):
            wrong.append((name, before, after, by, reason, [finding.message for finding in found.findings]))
    assert wrong == []


def edited(base, edits):
    """A copy with fields set, each of which has a place."""
    value = json.loads(json.dumps(base))
    assert all(hooks.put(value, path, part) for path, part in edits)
    return value


REFUSALS = {
    "a flavor that lends more than it has": (
        "cq",
        {"spec|resourceGroups|0|flavors|0|resources|0|lendingLimit": 5},
        "webhook/cluster-queue",
    ),
    "a taint twice": ("rf", {"spec|nodeTaints|1|effect": "NoSchedule"}, "webhook/resource-flavor"),
    "an empty queue name": ("job", {"metadata|labels|kueue.x-k8s.io/queue-name": ""}, "webhook/kueue-job"),
    "a number as a pod-set group": (
        "job",
        {"spec|template|metadata|annotations|kueue.x-k8s.io/podset-group-name": "1"},
        "webhook/topology-request",
    ),
    "a gate without a domain": (
        "dep",
        {"metadata|annotations|kueue.x-k8s.io/admission-gated-by": "quota"},
        "webhook/kueue-admission-gate",
    ),
    "a dependency on a later job": (
        "js",
        {"spec|replicatedJobs|1|dependsOn": [{"name": "x", "status": "Ready"}]},
        "webhook/jobset",
    ),
    "a container of another name": (
        "pytorchjob",
        {"spec|pytorchReplicaSpecs|Worker|template|spec|containers|0|name": "x"},
        "webhook/pytorchjob",
    ),
    "a subgroup that does not divide": (
        "lws",
        {"spec|leaderWorkerTemplate|subGroupPolicy": {"subGroupSize": 9}},
        "webhook/lws",
    ),
    "no task": ("vj", {"spec": {"queue": "default"}}, "webhook/volcano-job"),
    "an unknown plugin": ("vj", {"spec|plugins": {"x": []}}, "webhook/volcano-job"),
    "a guarantee above the capability": ("vq", {"spec|guarantee": {"resource": {"cpu": 9}}}, "webhook/volcano-queue"),
    "a runtime's trainer without its container": (
        "ctr",
        {"spec|template|spec|replicatedJobs|0|template|spec|template|spec|containers|0|name": "x"},
        "webhook/training-runtime",
    ),
    "a reserved variable": (
        "trainjob",
        {"spec|trainer|env": [{"name": "PET_NNODES", "value": "2"}]},
        "webhook/trainjob-torch",
    ),
}


@pytest.mark.parametrize(("base", "edits", "rule"), REFUSALS.values(), ids=REFUSALS)
def test_refusals_name_their_rule_and_its_source(base, edits, rule):
    """One finding of the layer, with the upstream file and release."""
    found = judged(edited(hooks.read("bases")[base], edits.items()))
    assert {finding.rule for finding in found.findings} == {rule}
    assert all(finding.layer == "webhook" and " v" in finding.source for finding in found.findings)


LATER = {
    "a RayJob without a cluster": ("rayjob", {"spec|rayClusterSpec": "~"}, "spec.rayClusterSpec"),
    "a RayCluster whose group has its least above its most": (
        "raycluster",
        {"spec|workerGroupSpecs|0|minReplicas": 9},
        "spec.workerGroupSpecs[0].minReplicas",
    ),
    "an MPIJob with two launchers": (
        "mpijob",
        {"spec|mpiReplicaSpecs|Launcher|replicas": 2},
        "spec.mpiReplicaSpecs.Launcher.replicas",
    ),
    "a PyTorchJob that mounts no volume of its own": (
        "pytorchjob",
        {"spec|pytorchReplicaSpecs|Worker|template|spec|containers|0|volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].volumeMounts[0].name",
    ),
    "a PyTorchJob whose Services have too long names": ("pytorchjob", {"metadata|name": "a" * 55}, "metadata.name"),
    "a TrainJob that asks for more than it may have": (
        "trainjob",
        {"spec|trainer|resourcesPerNode": {"requests": {"cpu": "8"}, "limits": {"cpu": "4"}}},
        "spec.trainer.resourcesPerNode.requests.cpu",
    ),
    "a TrainJob whose pods have too long names": ("trainjob", {"metadata|name": "a" * 49}, "metadata.name"),
}


@pytest.mark.parametrize(("base", "edits", "path"), LATER.values(), ids=LATER)
def test_what_a_controller_never_runs_is_told_as_such(base, edits, path):
    """Admission lets it pass; the source says when it is refused."""
    value = edited(hooks.read("bases")[base], edits.items())
    value["metadata"]["labels"] = {}
    found = judged(value, judge=a_judge(later=Severity.ERROR))
    (finding,) = found.findings
    assert (found.verdict, finding.path) == ("invalid", path)
    assert finding.source.endswith("refused at reconcile")
    assert judged(value).verdict == "valid"


SCHEDULED: dict[str, tuple[dict[str, Any], str]] = {
    "a queue": ({}, ""),
    "what is no queue's name": (
        {"metadata|labels|kueue.x-k8s.io/queue-name": "A_b"},
        'spec.jobTemplate.metadata.labels["kueue.x-k8s.io/queue-name"]',
    ),
    "fewer pods than it has": (
        {"metadata|annotations": {"kueue.x-k8s.io/job-min-parallelism": "99"}},
        'spec.jobTemplate.metadata.annotations["kueue.x-k8s.io/job-min-parallelism"]',
    ),
}


@pytest.mark.parametrize(("edits", "path"), SCHEDULED.values(), ids=SCHEDULED)
def test_each_job_of_a_cron_job_is_asked_about_later(edits, path):
    """The CronJob is taken, and Kueue's webhook refuses each Job that is made of it."""
    job = edited(hooks.read("bases")["job"], edits.items())
    template = {"metadata": {key: job["metadata"][key] for key in ("labels", "annotations") if key in job["metadata"]}}
    value = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": "team"}}
    value["spec"] = {"schedule": "0 1 * * *", "jobTemplate": {**template, "spec": job["spec"]}}
    found = judged(value, judge=a_judge(later=Severity.ERROR)).findings
    assert [finding.path for finding in found] == ([path] if path else [])
    assert judged(value).verdict == "valid"


@pytest.mark.parametrize(("base", "length"), [("pytorchjob", 54), ("trainjob", 48)])
def test_the_longest_name_that_leaves_room_is_taken(base, length):
    """One letter more is refused later, as the cases above."""
    value = edited(hooks.read("bases")[base], [("metadata|name", "a" * length)])
    value["metadata"]["labels"] = {}
    assert judged(value, judge=a_judge(later=Severity.ERROR)).verdict == "valid"


def test_what_may_exist_elsewhere_is_not_missed():
    """What is not among the inputs leaves an object unknown, unless the inputs are all there is."""
    bases = hooks.read("bases")
    values = edited(bases["vj"], [("spec|queue", "x")]), edited(bases["trainjob"], [("spec|runtimeRef|name", "x")])
    for value in values:
        assert judged(value).verdict == "invalid"
        assert judged(value, judge=a_judge(complete=False)).verdict == "unknown"


def test_a_default_queue_takes_what_names_none():
    """A cluster that scales itself is refused in a namespace whose LocalQueue is called default."""
    value = edited(hooks.read("bases")["raycluster"], [("spec|enableInTreeAutoscaling", True)])
    value["metadata"]["labels"] = {}
    assert judged(value).verdict == "valid"
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue"}
    queue["metadata"] = {"name": "default", "namespace": value["metadata"]["namespace"]}
    around = webhooks.gather_objects([queue])
    assert judged(value, judge=replace(a_judge(), around=around)).findings[0].rule == "webhook/kueue-ray-cluster"


def test_a_projects_rules_ask_for_the_project():
    """Without Kueue nobody looks at its labels; its webhooks leave kube-system alone."""
    value = edited(hooks.read("bases")["job"], [("metadata|labels|kueue.x-k8s.io/queue-name", "A_b")])
    assert judged(value).verdict == "invalid"
    value["metadata"]["namespace"] = "kube-system"
    assert judged(value).verdict == "valid"
    bare, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"jobset": "0.12.0"})
    value["metadata"]["namespace"] = "team"
    assert judged(value, judge=Judge(bare)).verdict == "valid"


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [None], {"a": None}])
def test_odd_shapes_are_passed_over(odd):
    """Rules look at sound structure only, and survive any other."""
    for base in hooks.read("bases").values():
        for field in base["spec"]:
            value = {**base, "spec": {**base["spec"], field: odd}}
            kind = a_judge().catalog.lookup(*base["apiVersion"].rpartition("/")[::2], base["kind"])
            webhooks.default(value, kind=kind, projects=PROJECTS)
            list(webhooks.check(value, kind=kind, projects=PROJECTS, old=base, around=a_judge().around))
            list(webhooks.reconcile(value, kind=kind, projects=PROJECTS))
