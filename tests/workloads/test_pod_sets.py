"""Where every kind carries pods: pod sets as Kueue counts them, none in what is malformed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import tries
from trainyard.upstream.workloads import ANY, carrier, carriers

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


def replica(count: int | None = None) -> dict[str, Any]:
    """Return one entry of a Kubeflow job's map of replicas."""
    return {"template": {"spec": {}}, **({} if count is None else {"replicas": count})}


RAY = {"headGroupSpec": replica(), "workerGroupSpecs": [{"groupName": "gpu", **replica(4), "numOfHosts": 2}]}

POD_SETS = {
    "a Job": ("batch/Job", JOB, [("main", 2)]),
    "the smaller of parallelism and completions": (
        "batch/Job",
        {"spec": {"parallelism": 4, "completions": 3, "template": {}}},
        [("main", 3)],
    ),
    "parallelism alone": ("batch/Job", {"spec": {"parallelism": 4, "template": {}}}, [("main", 4)]),
    "one pod by default": ("batch/Job", {"spec": {"template": {}}}, [("main", 1)]),
    "a JobSet of two roles": (
        "jobset.x-k8s.io/JobSet",
        jobset(replicated("worker", 4), replicated("ps", 2, replicas=3)),
        [("worker", 4), ("ps", 6)],
    ),
    "a Pod": ("/Pod", {"spec": {}}, [("main", 1)]),
    "what a CronJob makes": ("batch/CronJob", {"spec": {"jobTemplate": JOB}}, [("main", 2)]),
    "an MPIJob": (
        "kubeflow.org/MPIJob",
        {"spec": {"mpiReplicaSpecs": {"Launcher": replica(), "Worker": replica(4)}}},
        [("launcher", 1), ("worker", 4)],
    ),
    "a TFJob": (
        "kubeflow.org/TFJob",
        {"spec": {"tfReplicaSpecs": {"PS": replica(2), "Worker": replica(4)}}},
        [("ps", 2), ("worker", 4)],
    ),
    "a RayCluster with groups of two hosts": ("ray.io/RayCluster", {"spec": RAY}, [("head", 1), ("gpu", 8)]),
    "a RayJob that submits from a pod of its own": (
        "ray.io/RayJob",
        {"spec": {"rayClusterSpec": RAY, "submitterPodTemplate": {"spec": {}}}},
        [("head", 1), ("gpu", 8), ("submitter", 1)],
    ),
    "a LeaderWorkerSet with a leader of its own": (
        "leaderworkerset.x-k8s.io/LeaderWorkerSet",
        {"spec": {"leaderWorkerTemplate": {"size": 4, "leaderTemplate": {}, "workerTemplate": {}}}},
        [("leader", 1), ("worker", 3)],
    ),
    "a LeaderWorkerSet without": (
        "leaderworkerset.x-k8s.io/LeaderWorkerSet",
        {"spec": {"leaderWorkerTemplate": {"size": 4, "workerTemplate": {}}}},
        [("main", 4)],
    ),
    "a Job of Volcano": (
        "batch.volcano.sh/Job",
        {"spec": {"tasks": [{"name": "master", **replica(1)}, {"name": "worker", **replica(3)}]}},
        [("master", 1), ("worker", 3)],
    ),
    "a Job that is none": ("batch/Job", {"spec": {"template": "none", "parallelism": "two"}}, []),
    "a JobSet with a list of rubbish": (
        "jobset.x-k8s.io/JobSet",
        jobset("a", {"name": 1}, {"name": "b", "template": None}),
        [],
    ),
    "a JobSet without spec": ("jobset.x-k8s.io/JobSet", {"spec": None}, []),
    "numbers that are none": (
        "jobset.x-k8s.io/JobSet",
        jobset(replicated("worker", True, replicas="two")),
        [("worker", 1)],
    ),
}


@pytest.mark.parametrize(("kind", "value", "expected"), POD_SETS.values(), ids=POD_SETS)
def test_pod_sets(kind, value, expected):
    """Pod sets are named and counted as Kueue does, and a malformed object has none."""
    known = carrier(*kind.split("/"))
    assert known is not None
    assert [(pod_set.name, pod_set.count) for pod_set in known.pod_sets(value)] == expected


def reached(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return what stands at a path; raises KeyError or IndexError where nothing does."""
    for part in path:
        value = value[part]
    return value


def test_templates_stand_where_pod_sets_say():
    """The path of a pod set leads to its pod template."""
    value = jobset(replicated("worker", 2), replicated("ps"))
    known = carriers()["jobset.x-k8s.io", "JobSet"]
    assert [reached(value, pod_set.template) for pod_set in known.pod_sets(value)] == [{"spec": {}}, {"spec": {}}]


WORDS = sorted(
    {str(part) for row in carriers().values() for template in row.templates for part in template.pattern if part != ANY}
    | {"replicas", "parallelism", "completions", "name", "groupName", "numOfHosts", "size", "Worker"}
)
"""Fields that the table looks at, so that damaged objects have them."""

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=2), inner, max_size=5)
    ),
    max_leaves=8,
)


def filled(pattern: tuple[str | int, ...], inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values that have something at a pattern, with a list or a map at `*`."""
    for part in reversed(pattern):
        if part == ANY:
            inside = st.lists(inside, max_size=2) | st.dictionaries(st.text(max_size=3), inside, max_size=2)
        else:
            others = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=2)
            inside = st.tuples(others, st.just(part), inside).map(lambda item: {**item[0], item[1]: item[2]})
    return inside


DAMAGED = [
    (row, filled(template.pattern, VALUES))
    for row in carriers().values()
    for template in row.templates
    if template.pattern
]
"""Every row, and objects that have something where it looks for templates."""


@settings(max_examples=tries(200))
@given(data=st.data())
def test_no_object_is_too_damaged_to_count(data):
    """Whatever an object looks like, its pod sets are counted, in none or more, and their templates are there."""
    row, values = data.draw(st.sampled_from(DAMAGED))
    value = data.draw(values)
    for found in row.pod_sets(value):
        assert found.count >= 0
        assert isinstance(found.name, str)
        assert isinstance(reached(value, found.template), dict)
