"""Jobs that Volcano starts get the verdict that its queue and the nodes come to, with the cluster to themselves."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from command import call
from make import CLUSTER, IMAGE, JOB, fields, write_repository
from scheduler.gang_oracle import Volcano
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.changes import Outcomes
from trainyard.judge.admission.empty_nodes import alike, outlook
from trainyard.judge.admission.gangs import queue_limits
from trainyard.judge.admission.machines import Machines
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.site import site
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository

OPERATORS = {**CLUSTER["operators"], "volcano": {"version": "1.15.1"}}
SPEECH = {"teams": ["nlp"], "scheduler": "volcano", "nominalQuota": {"gpu": {"gpus": 32}}}
SITE = {**CLUSTER, "operators": OPERATORS, "topology": None, "queues": {"speech": SPEECH}}
SITE["pools"] = {"gpu": {"shape": "dgx-h100", "nodes": 4}}
GANG = {**JOB, "kind": "VolcanoJob", "queue": "speech"}
HALF = {**SPEECH, "nominalQuota": {"gpu": {"gpus": 16}}}
KEPT = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "kept", "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}},
    "spec": {"weight": 1, "guarantee": {"resource": {"nvidia.com/gpu": "8"}}, "deserved": {"nvidia.com/gpu": "8"}},
}
BELOW = {**KEPT, "spec": {"weight": 1, "parent": "speech"}}
APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "trainyard.dev/pool", "labelSelector": {"matchLabels": {"trainyard.dev/job": "train"}}}
            ]
        }
    }
}

CASES = {
    "a job whose queue has room, and whose pods have nodes, fits": (
        {},
        {"train": {"nodes": 4}},
        None,
        {"train": ("fits", "4 pods in pool gpu on 4 hosts")},
    ),
    "a job of more than its queue has is never started, and is told how many are": (
        {"queues": {"speech": HALF}},
        {"train": {"nodes": 3}},
        None,
        {
            "train": (
                "never fits",
                "queue speech can give at most 16 nvidia.com/gpu, but 24 are needed; it would fit with nodes: 2",
            )
        },
    ),
    "a job is told of another queue of Volcano's that has room": (
        {"queues": {"speech": HALF, "large": SPEECH}},
        {"train": {"nodes": 3, "gpusPerNode": 8}},
        None,
        {"train": ("never fits", "it would fit with ", " or queue: large")},
    ),
    "what is guaranteed to another queue a queue does not give": (
        {},
        {"train": {"nodes": 4}},
        KEPT,
        {"train": ("never fits", "queue speech can give at most 24 nvidia.com/gpu, but 32 are needed")},
    ),
    "a queue with queues below it takes no jobs": (
        {},
        {"train": {}},
        BELOW,
        {"train": ("never fits", "queue speech has child queues, so it takes no jobs itself")},
    ),
    "a job whose pods must be apart finds no nodes": (
        {},
        {"train": {"patches": [{"object": "Pod", "merge": {"spec": APART}, "reason": "a test"}]}},
        None,
        {
            "train": (
                "never fits",
                "even on an empty cluster it waits for a node for pods of worker: ",
                "; it would fit with nodes: 1",
            )
        },
    ),
    "of several jobs Volcano decides which is first, and that not all have room is known": (
        {},
        {"train": {"nodes": 3}, "other": {"nodes": 2}},
        None,
        {
            "train": (
                "fits alone",
                "3 pods in pool gpu on 3 hosts; Volcano also starts nlp/other and decides the order; ",
                "they do not fit at the same time: queue speech can give",
                " at most 32 nvidia.com/gpu, but 40 are needed",
            ),
            "other": (
                "fits alone",
                "2 pods in pool gpu on 2 hosts; Volcano also starts nlp/train and decides the order",
            ),
        },
    ),
    "several jobs for which there is room are alone all the same": (
        {},
        {"train": {"nodes": 2}, "other": {"nodes": 2}},
        None,
        {"train": ("fits alone", "2 pods in pool gpu on 2 hosts; Volcano also starts nlp/other and decides the order")},
    ),
    "a step of a pipeline is beside nobody": (
        {"pipelines": {"image": IMAGE, "serviceAccount": "runner"}},
        {"train": {"after": []}, "other": {}},
        None,
        {
            "train": ("fits alone", "when it is started: 2 pods in pool gpu on 2 hosts"),
            "other": ("fits", "2 pods in pool gpu"),
        },
    ),
    "an elastic job starts with its fewest pods, and has more where there is room": (
        {"recoveryMinutes": 0},
        {"train": {"nodes": 4, "minNodes": 2}},
        None,
        {"train": ("fits", "4 pods in pool gpu on 4 hosts")},
    ),
    "an elastic job that has no room for all of its pods starts with those that have": (
        {"recoveryMinutes": 0, "queues": {"speech": HALF}},
        {"train": {"nodes": 4, "minNodes": 1}},
        None,
        {"train": ("fits partially", "2 of 4 pods; 2 pods in pool gpu on 2 hosts")},
    ),
    "an elastic job of several is told how many of its pods start": (
        {"recoveryMinutes": 0, "queues": {"speech": HALF}},
        {"train": {"nodes": 4, "minNodes": 1}, "other": {"nodes": 1}},
        None,
        {
            "train": (
                "fits alone",
                "2 of 4 pods; 2 pods in pool gpu on 2 hosts; Volcano also starts nlp/other and decides the order",
            )
        },
    ),
    "what a Volcano does that is configured otherwise is not known": (
        {
            "operators": {
                **OPERATORS,
                "volcano": {
                    "version": "1.15.1",
                    "values": {"custom": {"scheduler_config_override": "actions: allocate"}},
                },
            }
        },
        {"train": {}},
        None,
        {
            "train": (
                "not judged",
                "its Volcano has a custom configuration (custom.scheduler_config_override), which is not simulated",
            )
        },
    ),
}


def checked(folder, cluster, jobs, own=None):
    """A repository with these changes to a cluster with a queue of Volcano's, these jobs, and an object of its own."""
    values = {f"nlp/{name}": fields(GANG, job) for name, job in jobs.items()}
    root = write_repository(folder, jobs=values, clusters={"test": fields(SITE, cluster)})
    if own is not None:
        place = root / "platform/extra/test/platform/own.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(own))
    return check_repository(root)


@pytest.mark.parametrize(("cluster", "jobs", "own", "expected"), CASES.values(), ids=CASES)
def test_verdicts(tmp_path, cluster, jobs, own, expected):
    """A job gets the word, and the detail says what is asked for."""
    found = {verdict.ask.file.name: verdict for verdict in verdicts(checked(tmp_path, cluster, jobs, own))}
    for name, (word, *details) in expected.items():
        assert found[name].word == word, found[name]
        assert all(detail in found[name].detail for detail in details), found[name].detail


@pytest.mark.parametrize(
    ("queue", "least", "word", "detail"),
    [(SPEECH, 2, "fits", "4 pods in pool gpu"), (HALF, 1, "fits partially", "2 of 4 pods; 2 pods in pool gpu")],
)
def test_a_plan_says_how_many_pods_of_an_elastic_job_start(tmp_path, queue, least, word, detail):
    """Those that find room and nodes, as `trainyard admit` says, and not its fewest."""
    there = checked(
        tmp_path, {"recoveryMinutes": 0, "queues": {"speech": queue}}, {"train": {"nodes": 4, "minNodes": least}}
    )
    where = site(there.specs, "test")
    (ask,) = asks(there, {"test": where}, ["test"])
    machines = Machines.of(where)
    found = Outcomes(where, [ask], lambda site, case: site.answered(case), look=lambda bid: outlook(bid, machines))
    assert (found.word(ask), found.detail(ask), found.by(ask)) == (word, detail, "volcano")
    (verdict,) = verdicts(there)
    assert (verdict.word, verdict.detail.startswith(detail)) == (word, True)


@pytest.mark.parametrize("spec", [5, {"weight": 1, "guarantee": 5}, {"guarantee": {"resource": {"cpu": "x"}}}])
def test_a_queue_that_is_none_is_told_with_its_place(tmp_path, spec):
    """Where it keeps jobs from being judged, the command says which object is wrong, and where."""
    checked(tmp_path, {}, {"train": {"nodes": 4}}, {**KEPT, "spec": spec})
    done = call(tmp_path, "admit")
    assert (done.returncode, done.stdout) == (2, "")
    assert "platform/extra/test/platform/own.yaml:1: Queue kept: spec" in done.stderr


def test_jobs_that_need_other_numbers_of_their_pods_are_not_alike(tmp_path):
    """What is remembered of one would be told of the other."""
    there = checked(tmp_path, {}, {"train": {"nodes": 4}})
    (ask,) = asks(there, {"test": site(there.specs, "test")}, ["test"])
    (workload,) = ask.workloads
    fewer = replace(ask, workloads=[{**workload, "spec": {**workload["spec"], "least": 1}}])
    assert alike(ask) == alike(replace(ask))
    assert alike(ask) != alike(fewer)


def test_a_job_that_volcano_never_starts_is_a_finding_once(tmp_path):
    """It stands at the job's queue; a job of which an error is told already gets no second one."""
    there = checked(tmp_path, {}, {"train": {"nodes": 4}}, KEPT)
    (found,) = findings(verdicts(there), there.findings)
    assert (found.rule, found.location.file) == ("vc-never-fits", "jobs/nlp/train.yaml")
    more = checked(tmp_path / "more", {"queues": {"speech": HALF}}, {"train": {"nodes": 3}})
    assert list(findings(verdicts(more), more.findings)) == []


def test_the_command_tells_of_a_cluster_without_kueue(tmp_path):
    """Its jobs are judged all the same, and JSON has the hosts of their pods."""
    operators = {name: operator for name, operator in OPERATORS.items() if name != "kueue"}
    checked(tmp_path, {"operators": operators, "priorities": {}}, {"train": {"priority": None}})
    (train,) = json.loads(call(tmp_path, "admit", "-o", "json").stdout)
    assert (train["verdict"], train["workloads"], train["situations"]) == ("fits", [], {})
    assert {pod["host"] for pod in train["machines"]["alone"]["pods"]} == {"gpu-000", "gpu-001"}


def test_the_arithmetic_of_a_job_that_never_starts(tmp_path):
    """What the pods that have to be there ask for, beside what their queue has no room for."""
    checked(tmp_path, {"queues": {"speech": HALF}, "recoveryMinutes": 0}, {"train": {"nodes": 4, "minNodes": 3}})
    said = call(tmp_path, "admit", "-v").stdout
    assert "can give at most 16 nvidia.com/gpu, but 24 are needed" in said
    assert "\n    worker × 3: " in said
    assert ", 24 nvidia.com/gpu" in said


def test_a_queue_that_is_not_there_starts_nothing(tmp_path):
    """Volcano's webhook refuses such a job, as a plan says of a run whose queue has gone."""
    there = checked(tmp_path, {}, {"train": {}})
    where = site(there.specs, "test")
    (ask,) = asks(there, {"test": where}, ["test"])
    assert queue_limits(ask, where) == ""
    without = replace(where, objects=[item for item in where.objects if item["kind"] != "Queue"])
    assert queue_limits(ask, without) == "queue speech does not exist"


DRAWN = {
    "as many as there are": ({}, {"nodes": 4}),
    "all of one node": ({}, {"nodes": 1}),
    "half nodes": ({}, {"nodes": 8, "gpusPerNode": 4}),
    "single GPUs": ({}, {"nodes": 32, "gpusPerNode": 1}),
    "more than one node has for each": ({}, {"nodes": 2, "memoryPerNode": "1950Gi"}),
    "five GPUs of each": ({}, {"nodes": 5, "gpusPerNode": 5}),
    "more than the queue has": ({"queues": {"speech": HALF}}, {"nodes": 3}),
    "all that the queue has": ({"queues": {"speech": HALF}}, {"nodes": 2}),
    "its fewest are more than the queue has": (
        {"queues": {"speech": HALF}, "recoveryMinutes": 0},
        {"nodes": 4, "minNodes": 3},
    ),
    "its fewest are all that the queue has": (
        {"queues": {"speech": HALF}, "recoveryMinutes": 0},
        {"nodes": 4, "minNodes": 2},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("cluster", "job"), DRAWN.values(), ids=DRAWN)
def test_volcano_starts_what_fits(tmp_path, cluster, job):
    """A running Volcano starts a rendered job on its cluster's nodes if and only if it fits, or its fewest pods do."""
    kubeconfig = os.environ.get("TRAINYARD_VOLCANO_ORACLE")
    if not kubeconfig:
        pytest.skip("a running Volcano: set TRAINYARD_VOLCANO_ORACLE to the kubeconfig of a cluster to throw away")
    there = checked(tmp_path, cluster, {"train": job})
    where = site(there.specs, "test")
    (ask,) = asks(there, {"test": where}, ["test"])
    (verdict,) = verdicts(there)
    answer = Volcano(Path(kubeconfig)).answer(question(where, ask))
    assert (verdict.word in {"fits", "fits partially"}) == any(answer["bound"].values()), (verdict, answer)
    assert answer["enqueued"] == (verdict.by != "volcano"), (verdict, answer)


def question(where, ask):
    """A job and its cluster as a case for Volcano, without volumes; `held` is what daemons take of a node."""
    held = {
        item["spec"]["nodeName"]: item["spec"]["containers"][0]["resources"]["requests"]
        for item in where.of("Pod").values()
    }
    nodes = [
        {
            "name": name,
            "labels": node["metadata"]["labels"],
            "taints": node["spec"]["taints"],
            "allocatable": node["status"]["allocatable"],
            "held": held[name],
        }
        for name, node in where.nodes.items()
    ]
    (owner,) = ask.owners
    tasks = [
        {
            "name": task["name"],
            "replicas": task["replicas"],
            "minAvailable": task["minAvailable"],
            "labels": {},
            "spec": bound(task["template"]["spec"]),
        }
        for task in owner["spec"]["tasks"]
    ]
    queue = where.of("Queue")[owner["spec"]["queue"]]["spec"]
    least = owner["spec"]["minAvailable"]
    return {"nodes": nodes, "queue": queue, "others": [], "namespace": "alpha", "minAvailable": least, "tasks": tasks}


def bound(spec):
    """The specification of a pod without its volumes, which nobody provides there."""
    kept = {name: value for name, value in spec.items() if name != "volumes"}
    return {**kept, "containers": [{**container, "volumeMounts": []} for container in spec["containers"]]}
