"""Readers beside the checks follow what an object holds: `run`, plans, Kueue, and how pods come to nodes."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.change.plan.compare.security import loosened
from trainyard.change.plan.read.shape import shape
from trainyard.faces.local import work_of
from trainyard.judge.admission.exclusive import exclusive
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.requests.jobs import workloads
from trainyard.upstream.kueue.requests.jobs.appwrapper import origin
from trainyard.upstream.workloads import held_by, pod_sets_of

QUEUE = {"kueue.x-k8s.io/queue-name": "research"}
POD = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "x", "command": ["true"]}]}
EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}


def jobset(*roles: tuple[str, int], **metadata: Any) -> dict[str, Any]:
    """Return a JobSet of such roles, each so many pods."""
    jobs = [
        {"name": name, "template": {"spec": {"parallelism": pods, "completions": pods, "template": {"spec": POD}}}}
        for name, pods in roles
    ]
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train", **metadata}}
    return {**head, "spec": {"replicatedJobs": jobs}}


def wrapper(*held: Any) -> dict[str, Any]:
    """Return an AppWrapper called `whole` of these objects."""
    metadata = {"name": "whole", "namespace": "nlp", "labels": QUEUE}
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": metadata}
    return {**head, "spec": {"components": [{"template": item} for item in held]}}


SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "None"}}
WHOLE = wrapper(SERVICE, jobset(("ps", 1), ("worker", 4), annotations=EXCLUSIVE))


def test_held_objects_are_in_the_namespace_of_their_holder() -> None:
    """What says no namespace is made in the holder's; paths lead to the object as it is written."""
    assert [(path, held["kind"], held["metadata"]["namespace"]) for path, held in held_by(WHOLE)] == [
        (("spec", "components", 0, "template"), "Service", "nlp"),
        (("spec", "components", 1, "template"), "JobSet", "nlp"),
    ]


NONE: dict[str, Any] = {
    "an AppWrapper in an AppWrapper, which its webhook refuses": wrapper(WHOLE),
    "what is no object": wrapper("text", None, 1),
    "an object whose metadata are none": wrapper({**SERVICE, "metadata": "text"}),
    "a kind that holds nothing": jobset(("worker", 1)),
    "components that are no list": {**WHOLE, "spec": {"components": "text"}},
}


@pytest.mark.parametrize("value", NONE.values(), ids=NONE)
def test_nothing_is_held(value: dict[str, Any]) -> None:
    """Whatever an object looks like, it holds objects or none."""
    assert list(held_by(value)) == []


def test_pod_sets_are_those_of_what_is_held() -> None:
    """They have the names that the kind inside gives them, and paths in the holder."""
    found = [(item.name, item.count, item.template[:4]) for item, _ in pod_sets_of(WHOLE, [])]
    inside = ("spec", "components", 1, "template")
    assert found == [("ps", 1, inside), ("worker", 4, inside)]


def test_run_starts_the_pods_of_what_is_held() -> None:
    """`trainyard run` makes the pods that the JobSet's controller makes."""
    (work,) = work_of([WHOLE])
    assert [pod.pod.role for pod in work.pods] == ["ps", *["worker"] * 4]


def test_a_plan_knows_how_many_pods_there_are_and_what_they_may() -> None:
    """A plan says the same of the pods as without the AppWrapper, and names the kind that waits in the queue."""
    alone = jobset(("ps", 1), ("worker", 4))
    assert shape([WHOLE], {}).words == "AppWrapper of 5 pods, queue research"
    assert shape([WHOLE], {}).pods == shape([alone], {}).pods == 5
    assert list(loosened([WHOLE])) == list(loosened([alone]))


def test_kueue_counts_what_is_held_and_nodes_know_whose_pods_they_are() -> None:
    """Kueue numbers the pod sets; each leads back to the object whose controller makes its pods."""
    (made,) = workloads(WHOLE, [], Gates(None))
    assert [(pod_set["name"], pod_set["count"]) for pod_set in made["spec"]["podSets"]] == [
        ("whole-0", 1),
        ("whole-1", 4),
    ]
    held, name = origin(WHOLE, "whole-1")
    assert (held["kind"], name) == ("JobSet", "worker")
    assert exclusive(held, name) == ("rack", "jobset.sigs.k8s.io/job-key", 4)
    assert origin(held, "worker") == (held, "worker")


def test_declared_pod_sets_lead_to_their_objects() -> None:
    """Where a component declares its pod sets, the path says which pods they are."""
    path = "template.spec.replicatedJobs[1].template.spec.template"
    component = {"template": jobset(("ps", 1), ("worker", 4)), "podSets": [{"path": path, "replicas": 4}]}
    value = {**WHOLE, "spec": {"components": [component]}}
    (made,) = workloads(value, [], Gates(None))
    assert [(pod_set["name"], pod_set["count"]) for pod_set in made["spec"]["podSets"]] == [("whole-0", 4)]
    assert origin(value, "whole-0") == (component["template"], "worker")
