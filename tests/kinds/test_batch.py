"""Volcano's Jobs, LeaderWorkerSets and gangs that a second scheduler binds: what their controllers make of them."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_job_file, make_resolved, make_specs
from trainyard.judge.preflight import jobs
from trainyard.render.kinds import build
from trainyard.render.kinds.leaderworkerset import HOLD

GANG = make_cluster(
    gang="coscheduling",
    topology=None,
    operators={
        **CLUSTER["operators"],
        "scheduler-plugins": {"version": "0.34.7"},
        "mpi-operator": {"version": "0.8.0"},
    },
)


def made(**job: Any) -> list[dict[str, Any]]:
    """Return the objects of a run."""
    return [item.value() for item in build(make_resolved(**job))]


def volcano(**job: Any) -> dict[str, Any]:
    """Return the spec of a VolcanoJob."""
    spec: dict[str, Any] = made(kind="VolcanoJob", **job)[0]["spec"]
    return spec


def test_every_default_of_volcano_is_written():
    """Its webhook compares what is applied again with what it has filled in, and refuses what differs."""
    spec = volcano(nodes=4)
    assert {"minAvailable", "maxRetry", "queue", "schedulerName"} <= spec.keys()
    assert all({"minAvailable", "maxRetry", "replicas", "name"} <= task.keys() for task in spec["tasks"])


RESTARTS = {"none": (0, 1), "three": (3, 4)}


@pytest.mark.parametrize(("restarts", "expected"), RESTARTS.values(), ids=RESTARTS)
def test_the_restart_that_reaches_the_number_ends_the_job(restarts, expected):
    """Volcano counts first and compares then; 0 would be taken for its default, three."""
    assert volcano(nodes=4, restarts=restarts)["maxRetry"] == expected


def test_a_gang_is_all_pods_and_restarts_as_one():
    """Nothing starts before all of it fits, a failure or a lost pod restarts all, and what no retry mends ends it."""
    spec = volcano(nodes=4)
    assert spec["minAvailable"] == 4
    assert [(policy.get("exitCode"), policy["action"]) for policy in spec["policies"]] == [
        (2, "TerminateJob"),
        (126, "TerminateJob"),
        (127, "TerminateJob"),
        (None, "RestartJob"),
    ]
    assert spec["policies"][-1]["events"] == ["PodFailed", "PodEvicted"]
    assert "minSuccess" not in spec


def test_an_elastic_job_starts_with_its_fewest_and_makes_pods_anew():
    """The first worker to end well ends the run; every lost pod counts, so that there are as many restarts a pod."""
    spec = volcano(nodes=4, min_nodes=2, restarts=3)
    assert (spec["minAvailable"], spec["tasks"][0]["minAvailable"], spec["tasks"][0]["replicas"]) == (2, 2, 4)
    assert spec["policies"][-1]["action"] == "RestartPod"
    assert (spec["minSuccess"], spec["maxRetry"]) == (1, 13)


def test_roles_that_serve_do_not_keep_the_job_from_its_end():
    """The chief's end is the job's, whatever ended before it; a run without such a role ends when all pods have."""
    roles = {"ps": {"nodes": 2, "pool": "cpu", "cpusPerNode": 2}}
    run = make_resolved(kind="VolcanoJob", launcher="tensorflow", nodes=3, roles=roles)
    spec = next(iter(build(run))).value()["spec"]
    assert {task["name"]: task.get("policies") for task in spec["tasks"]} == {
        "worker": None,
        "ps": None,
        "chief": [{"event": "TaskCompleted", "action": "CompleteJob"}],
    }
    assert spec["minAvailable"] == sum(task["replicas"] for task in spec["tasks"])
    assert not [task for task in volcano(nodes=3)["tasks"] if "policies" in task]


def test_two_roles_that_end_a_run_are_no_volcano_job():
    """The first of them would end the other."""
    roles = {"chief": {"pool": "gpu", "gpusPerNode": 8}, "evaluator": {"pool": "cpu", "cpusPerNode": 2}}
    run = make_resolved(kind="VolcanoJob", launcher="tensorflow", nodes=2, roles=roles)
    assert [item.message for item in run.kind.check(run)] == [
        "roles worker and chief end the run together, but a VolcanoJob ends with one role; use JobSet"
    ]


def test_pods_of_volcano_get_past_the_taints_of_their_pool():
    """No flavor of Kueue's adds a toleration to them, and nothing of Kueue's is read."""
    pools = {"gpu": {**CLUSTER["pools"]["gpu"], "taints": [{"key": "nvidia.com/gpu", "value": "present"}]}}
    job, *_ = made(kind="VolcanoJob", cluster=make_cluster(pools={**CLUSTER["pools"], **pools}))
    spec = job["spec"]["tasks"][0]["template"]["spec"]
    assert spec["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    ]
    assert not [key for key in job["metadata"].get("labels", {}) if "kueue" in key]


def test_a_leader_worker_set_is_one_group():
    """The first worker leads; when a container restarts, the whole group is made anew."""
    [lws] = made(kind="LeaderWorkerSet", nodes=4)
    group = lws["spec"]["leaderWorkerTemplate"]
    assert (lws["spec"]["replicas"], group["size"], group["restartPolicy"]) == (1, 4, "RecreateGroupOnPodRestart")
    assert group["workerTemplate"]["spec"]["restartPolicy"] == "Always"


HELD = {
    "a program that fails": ("echo begun; exit 3", False, 3),
    "a program that is told to end and saves": ("trap 'exit 7' TERM; echo begun; sleep 30 & wait", True, 7),
    "a program that has ended well, when the job is retired": (
        "echo 'done: waiting until the job is retired'",
        True,
        0,
    ),
}


@pytest.mark.parametrize(("program", "told", "code"), HELD.values(), ids=HELD)
def test_what_ends_well_waits_and_all_else_ends_the_container(program, told, code):
    """A container that ended would be started again, and would train once more."""
    command = ["sh", "-c", HOLD, "hold", "sh", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            assert first == "begun\n" or process.stdout.readline() == first
            assert not told or process.poll() is None
            if told:
                process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=10) == code
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


LWS = make_cluster(operators={**CLUSTER["operators"], "lws": {"version": "0.10.0"}})
ENDLESS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing that ends it": (
        {"kind": "LeaderWorkerSet"},
        ["a LeaderWorkerSet never completes, and 2 pods on as many nodes stay until retired; set maxHours"],
    ),
    "a deadline": ({"kind": "LeaderWorkerSet", "max_hours": 5}, []),
    "restarts that nobody counts": (
        {"kind": "LeaderWorkerSet", "max_hours": 5, "restarts": 3},
        ["restarts is 3, but a LeaderWorkerSet restarts without limit; remove it"],
    ),
    "a job that names no kind": ({}, []),
}


@pytest.mark.parametrize(("job", "messages"), ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_says_so(job, messages):
    """It is never what a job gets that names no kind."""
    specs = make_specs(make_job_file(**job), clusters={"test": LWS})
    run, found = jobs.check(specs, specs.jobs[0])
    assert [item.message for item in found] == messages
    assert run is None or run.kind.name == job.get("kind", "JobSet")


def pods_of(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the pod templates of an object in which a label stands, wherever they are."""
    found: list[dict[str, Any]] = []
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}) and name in value.get("metadata", {}).get("labels", {}):
            found.append(value)
        for item in value.values():
            found += pods_of(item, name)
    elif isinstance(value, list):
        for item in value:
            found += pods_of(item, name)
    return found


GANGS: dict[str, tuple[dict[str, Any], int | None]] = {
    "a JobSet": ({"kind": "JobSet", "nodes": 4}, 4),
    "a Job": ({"kind": "Job", "nodes": 4}, 4),
    "a Job that may start smaller": ({"kind": "Job", "nodes": 4, "min_nodes": 2}, 2),
    "indices of an array, each by itself": ({"kind": "Job", "nodes": 4, "array": {"of": 4, "parallel": 2}}, None),
    "one pod": ({"kind": "JobSet", "nodes": 1}, None),
    "an MPIJob, whose launcher waits for the workers": ({"kind": "MPIJob", "launcher": "mpirun", "nodes": 4}, 4),
    "a JobSet of several roles": (
        {
            "kind": "JobSet",
            "launcher": "tensorflow",
            "nodes": 3,
            "roles": {"ps": {"nodes": 2, "pool": "cpu", "cpusPerNode": 2}},
        },
        6,
    ),
    "a VolcanoJob": ({"kind": "VolcanoJob", "nodes": 4}, None),
    "a LeaderWorkerSet": ({"kind": "LeaderWorkerSet", "nodes": 4}, None),
}


@pytest.mark.parametrize(("job", "least"), GANGS.values(), ids=GANGS)
def test_a_gang_is_bound_when_as_many_pods_have_a_node_as_it_needs(job, least):
    """The group waits for no pod that is made later, and its pods name it and the scheduler that knows it."""
    workload, *others = made(cluster=GANG, **job)
    groups = [other for other in others if other["kind"] == "PodGroup"]
    pods = pods_of(workload, "scheduling.x-k8s.io/pod-group")
    assert [group["spec"]["minMember"] for group in groups] == ([] if least is None else [least])
    assert bool(pods) == bool(groups)
    assert {pod["spec"]["schedulerName"] for pod in pods} <= {"scheduler-plugins-scheduler"}
    assert {pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] for pod in pods} <= {
        group["metadata"]["name"] for group in groups
    }
    assert not [item for item in made(**job) if item["kind"] == "PodGroup"]


NATIVE = {"kubernetes": "1.37", "gang": "native", "featureGates": ["GenericWorkload", "WorkloadWithJob"]}


@pytest.mark.parametrize(
    ("job", "policy"),
    [
        ({"nodes": 2}, {"gang": {}}),
        ({"nodes": 4, "min_nodes": 2}, {"gang": {"minCount": 2}}),
        ({"nodes": 1}, None),
        ({"nodes": 2, "kind": "JobSet"}, None),
    ],
)
def test_a_plain_job_is_a_gang_of_its_own(job, policy):
    """The Job says so itself; no group and no other scheduler is made, and one pod is no gang."""
    cluster = make_cluster(topology=None, **NATIVE)
    workload, *others = made(cluster=cluster, **{"kind": "Job", **job})
    scheduling = workload["spec"].get("scheduling", {})
    assert scheduling.get("schedulingPolicy") == policy
    assert bool(policy) == (scheduling.get("disruptionMode") == {"all": {}})
    assert "PodGroup" not in {other["kind"] for other in others}
    assert "schedulerName" not in str(workload)
    assert "scheduling" not in made(**{"kind": "Job", **job})[0]["spec"]


def test_the_second_scheduler_is_called_as_its_chart_is_told():
    """Pods that name one that is not there wait for ever."""
    named = {"version": "0.34.7", "values": {"scheduler": {"name": "gangs"}}}
    cluster = make_cluster(gang="coscheduling", operators={**CLUSTER["operators"], "scheduler-plugins": named})
    assert pods_of(made(cluster=cluster)[0], "scheduling.x-k8s.io/pod-group")[0]["spec"]["schedulerName"] == "gangs"
