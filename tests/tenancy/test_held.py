"""A team's run in an AppWrapper is what it may be alone: the check and the cluster's policies say so alike."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from pod_crossings import PODS
from shipped import agreed
from tenants import everything, found, rendered

ALLOWED = replace(everything(), kinds=everything().kinds | {"workload.codeflare.dev/AppWrapper"})


def wrapped(workload: dict[str, Any], **component: Any) -> dict[str, Any]:
    """Return the AppWrapper of a run around its workload."""
    held = deepcopy(workload)
    labels = held["metadata"].pop("labels")
    name, namespace = held["metadata"]["name"], held["metadata"]["namespace"]
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"components": [{"template": held, **component}]},
    }


def job(*patches: dict[str, Any], kind: str = "Job") -> dict[str, Any]:
    """Return a rendered workload."""
    return rendered(kind, *patches)[0]


@pytest.mark.parametrize("kind", ["Job", "JobSet", "PyTorchJob", "RayJob"])
def test_a_run_in_an_app_wrapper_is_admitted(kind):
    """What Trainyard renders is right in an AppWrapper too, where the AppWrapper counts its pods."""
    assert not agreed([wrapped(job(kind=kind))], ALLOWED)


FIRST = {pod.number + pod.subject: case for case, pod in reversed(PODS.items())}


@pytest.mark.parametrize("case", sorted(FIRST.values())[::4])
def test_what_no_pod_of_a_team_may_be_it_may_not_be_there(case):
    """A try of each sort, by a run in an AppWrapper: at the field of the AppWrapper."""
    value = wrapped(job({"object": "Pod", "merge": PODS[case].merge}))
    assert agreed([value], ALLOWED)
    assert all(item.path[:4] == ("spec", "components", 0, "template") for item in found([value], ALLOWED))


def changed(path: tuple[str | int, ...], said: Any, kind: str = "Job") -> dict[str, Any]:
    """Return a run in an AppWrapper with another value at a path of the AppWrapper."""
    value = wrapped(job(kind=kind))
    at: Any = value
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = said
    return value


HELD: tuple[str | int, ...] = ("spec", "components", 0, "template")
TRIES: dict[str, dict[str, Any]] = {
    "an object that is no workload": changed(
        HELD, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "train"}}
    ),
    "a workload whose pods nobody counts": wrapped(job(kind="LeaderWorkerSet")),
    "an AppWrapper in another": changed(HELD, wrapped(job())),
    "fewer pods than there are": wrapped(job(), podSets=[{"path": "template.spec.template", "replicas": 1}]),
    "an object of another name": changed((*HELD, "metadata", "name"), "other"),
    "an object in another namespace": changed((*HELD, "metadata", "namespace"), "kube-system"),
    "a field that a Job of a run lacks": changed((*HELD, "spec", "managedBy"), "somebody/else"),
    "an owner": changed((*HELD, "metadata", "ownerReferences"), [{"kind": "Node", "name": "a", "uid": "b"}]),
    "another controller": changed(("spec", "managedBy"), "somebody/else"),
    "no queue": changed(("metadata", "labels"), {}),
    "an object beside its fields": changed((*HELD, "rules"), []),
}


@pytest.mark.parametrize("case", TRIES)
def test_nothing_else_is_held(case):
    """Neither other objects, nor workloads that no quota counts, nor fields that runs lack."""
    assert agreed([TRIES[case]], ALLOWED)


def test_both_objects_are_looked_at():
    """The second component is looked at as the first is."""
    value = wrapped(job())
    value["spec"]["components"].append({"template": job({"object": "Pod", "merge": {"spec": {"hostPID": True}}})})
    assert agreed([value], ALLOWED)


def test_a_cluster_without_the_kind_has_no_app_wrapper():
    """Where no kind of the cluster renders AppWrappers, a run has none."""
    assert [item.subject for item in found([wrapped(job())])] == ["object"]
