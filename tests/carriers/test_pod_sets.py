"""Facts about kinds: pod sets as Kueue counts them, pod names, health as Argo CD should show it."""

from __future__ import annotations

from typing import Any

import lupa
import pytest
from trainyard.workloads import launchers, workloads

from make import make_job

JOB: dict[str, Any] = {
    "metadata": {"name": "train"},
    "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {}}},
}


def jobset(*jobs: dict[str, Any]) -> dict[str, Any]:
    """Return a JobSet called `train` of these replicated jobs."""
    return {"metadata": {"name": "train"}, "spec": {"replicatedJobs": list(jobs)}}


def replicated(name: str, parallelism: Any = 1, **fields: Any) -> dict[str, Any]:
    """Return one replicated job."""
    spec = {"parallelism": parallelism, "completions": parallelism, "template": {"spec": {}}}
    return {"name": name, "template": {"spec": spec}, **fields}


POD_SETS = {
    "a Job": ("Job", JOB, [("main", 2)]),
    "the smaller of parallelism and completions": (
        "Job",
        {"spec": {"parallelism": 4, "completions": 3, "template": {}}},
        [("main", 3)],
    ),
    "parallelism alone": ("Job", {"spec": {"parallelism": 4, "template": {}}}, [("main", 4)]),
    "one pod by default": ("Job", {"spec": {"template": {}}}, [("main", 1)]),
    "a JobSet of two roles": (
        "JobSet",
        jobset(replicated("worker", 4), replicated("ps", 2, replicas=3)),
        [("worker", 4), ("ps", 6)],
    ),
    "a Job that is none": ("Job", {"spec": {"template": "none", "parallelism": "two"}}, []),
    "a JobSet with a list of rubbish": ("JobSet", jobset("a", {"name": 1}, {"name": "b", "template": None}), []),
    "a JobSet without spec": ("JobSet", {"spec": None}, []),
    "numbers that are none": ("JobSet", jobset(replicated("worker", True, replicas="two")), [("worker", 1)]),
}


@pytest.mark.parametrize(("kind", "value", "expected"), POD_SETS.values(), ids=POD_SETS)
def test_pod_sets(kind, value, expected):
    """Pod sets are named and counted as Kueue does, and a malformed object has none."""
    workload = workloads()[kind]
    found = workload.pod_sets(value)
    assert [(each.name, each.count) for each in found] == expected
    assert isinstance(workload.pod_names(value), list)


def test_templates_stand_where_pod_sets_say():
    """The path of a pod set leads to its pod template."""
    value = jobset(replicated("worker", 2), replicated("ps"))
    for each in workloads()["JobSet"].pod_sets(value):
        found: Any = value
        for part in each.template:
            found = found[part]
        assert found == {"spec": {}}


NAMES = {
    "a Job": ("Job", JOB, ["train-1"]),
    "a JobSet": (
        "JobSet",
        jobset(replicated("worker", 4), replicated("ps", 2, replicas=3)),
        ["train-worker-0-3", "train-ps-2-1"],
    ),
}


@pytest.mark.parametrize(("kind", "value", "expected"), NAMES.values(), ids=NAMES)
def test_names_of_the_last_pods(kind, value, expected):
    """Host names at the largest index are what the operators make of them."""
    assert workloads()[kind].pod_names(value) == expected


def test_a_pod_s_name_and_the_last_pod_s_name_agree():
    """The name a launcher gets for a pod is the one that the length check counts."""
    assert workloads()["Job"].host("train", "worker", 1) == "train-1"
    assert workloads()["JobSet"].host("train", "worker", 3) == "train-worker-0-3"


def condition(kind: str, status: str = "True", **fields: str) -> dict[str, Any]:
    """Return a status condition."""
    return {"type": kind, "status": status, **fields}


def live(kind: str, *conditions: dict[str, Any], suspend: bool = False, **status: Any) -> tuple[str, dict[str, Any]]:
    """Return an object as the cluster has it."""
    spec = {"suspend": suspend, "parallelism": 2, "replicatedJobs": [{"name": "worker", "replicas": 1}]}
    return kind, {"spec": spec, "status": {"conditions": list(conditions), **status}}


QUEUED, RESUMED = condition("Suspended", message="Job suspended"), condition("Suspended", "False")
HEALTH = {
    "Job just made": (("Job", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "Job just made in a queue": (("Job", {"spec": {"suspend": True}}), "Suspended", "Queued or stopped"),
    "Job queued": (live("Job", QUEUED, suspend=True), "Suspended", "Job suspended"),
    "Job starting": (live("Job", RESUMED, ready=0), "Progressing", "0 of 2 pods ready"),
    "Job running after a wait": (live("Job", RESUMED, ready=2), "Progressing", "2 of 2 pods ready"),
    "Job failed": (live("Job", RESUMED, condition("Failed", message="too many")), "Degraded", "too many"),
    "Job done": (live("Job", RESUMED, condition("Complete", message="all there")), "Healthy", "all there"),
    "Job about to fail": (live("Job", condition("FailureTarget"), ready=1), "Progressing", "1 of 2 pods ready"),
    "JobSet just made": (("JobSet", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "JobSet queued": (live("JobSet", QUEUED, suspend=True), "Suspended", "Job suspended"),
    "JobSet starting": (
        live("JobSet", RESUMED, replicatedJobsStatus=[{"name": "worker", "ready": 0, "succeeded": 0}]),
        "Progressing",
        "0 of 1 jobs ready",
    ),
    "JobSet running again": (
        live("JobSet", RESUMED, replicatedJobsStatus=[{"name": "worker", "ready": 1, "succeeded": 0}], restarts=2),
        "Progressing",
        "1 of 1 jobs ready, restart 2",
    ),
    "JobSet failed": (live("JobSet", RESUMED, condition("Failed", reason="FailedJobs")), "Degraded", "FailedJobs"),
    "JobSet done": (live("JobSet", RESUMED, condition("Completed")), "Healthy", "Completed"),
}


@pytest.mark.parametrize(("shown", "status", "message"), HEALTH.values(), ids=HEALTH)
def test_health(shown, status, message):
    """What queues is Suspended, what runs is Progressing, and only the end is Healthy or Degraded."""
    kind, value = shown
    lua = lupa.LuaRuntime()
    lua.globals().obj = lua.table_from(value, recursive=True)
    found = lua.execute(workloads()[kind].health)
    assert (found.status, found.message) == (status, message)


def test_argo_cd_leaves_alone_what_kueue_writes():
    """What Kueue sets to hold a job is no difference, and a rule is about its own kind."""
    for workload in workloads().values():
        for rule in workload.ignore:
            assert (rule["group"], rule["kind"]) == (workload.group, workload.kind)
            assert "/" + "/".join(map(str, workload.suspend)) in rule["jsonPointers"]
    assert workloads()["JobSet"].annotations == {"argocd.argoproj.io/sync-options": "ServerSideApply=true"}


PATCHABLE = {
    "a Job of one pod": ("Job", {"nodes": 1}, {"Job", "Pod"}),
    "a Job of several pods": ("Job", {"nodes": 2}, {"Job", "Pod", "Service"}),
    "a JobSet with files": (
        "JobSet",
        {"files": [{"source": "a.yaml", "mountPath": "/etc/a"}]},
        {"JobSet", "Job", "Pod", "ConfigMap"},
    ),
}


@pytest.mark.parametrize(("kind", "job", "expected"), PATCHABLE.values(), ids=PATCHABLE)
def test_what_patches_may_name(kind, job, expected):
    """Patches may name what the run consists of."""
    assert workloads()[kind].patchable(make_job(**job)) == expected


def test_launchers_are_known_by_their_files():
    """Names of launchers come from the folder, without importing what is in it."""
    assert {"torchrun", "python"} <= launchers()
    assert "base" not in launchers()
