"""AppWrapper's webhook: what it refuses of new AppWrappers and of changed ones, and what its operator may not create.

Restated from appwrapper v1.2.1 internal/webhook/appwrapper_webhook.go, pkg/utils/utils.go and config/rbac/role.yaml.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from conftest import ROOT
from trainyard.base.findings import Severity
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, Judgement, catalog, webhooks

POD = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "x"}]}
TEMPLATE = "template.spec.template"


def job(pods: int = 2, **metadata: Any) -> dict[str, Any]:
    """Return a Job of so many pods."""
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": POD}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", **metadata}, "spec": spec}


def wrapper(*components: Any, version: str = "v1beta2", **spec: Any) -> dict[str, Any]:
    """Return an AppWrapper of these components; an object alone is a component's template."""
    listed = [item if "template" in item else {"template": item} for item in components]
    head = {"apiVersion": f"workload.codeflare.dev/{version}", "kind": "AppWrapper"}
    return {**head, "metadata": {"name": "w", "namespace": "nlp"}, "spec": {"components": listed, **spec}}


def declared(held: dict[str, Any], *pod_sets: tuple[str, int | None]) -> dict[str, Any]:
    """Return a component that declares pod sets: the path of each, and its number where it says one."""
    listed = [{"path": path, **({} if pods is None else {"replicas": pods})} for path, pods in pod_sets]
    return {"template": held, "podSets": listed}


def of(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    """Return an object of a kind."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "o"}, "spec": spec}


GANG = of("example.com/v1", "Gang", groups=[{"size": 2, "template": {"spec": POD}}], size=2)
SERVICE = of("v1", "Service", clusterIP="None")
LISTED = "template.spec.groups[0].template"


@cache
def judge() -> Judge:
    """Judge as on a cluster with the operator."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"appwrapper": None, "jobset": None})
    return Judge(known, refused_later=Severity.WARNING)


def judged(value: dict[str, Any], old: dict[str, Any] | None = None) -> Judgement:
    """Judge one object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return judge().judge(manifest, old=old)


def refused(value: dict[str, Any], old: dict[str, Any] | None = None) -> list[str | None]:
    """Return the places at which the webhook refuses an object."""
    found = judged(value, old).findings
    assert all("appwrapper v1.2.1" in item.source for item in found if item.rule == "webhook/appwrapper")
    return [item.path for item in found if item.rule == "webhook/appwrapper"]


CREATED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a Job": (wrapper(job()), []),
    "an AppWrapper in it": (wrapper(wrapper(job())), ["spec.components[0].template"]),
    "an AppWrapper beside a Job": (wrapper(job(), wrapper(job())), ["spec.components[1].template"]),
    "an object of its own namespace": (wrapper(job(namespace="nlp")), []),
    "an object of another namespace": (
        wrapper(job(namespace="vision")),
        ["spec.components[0].template.metadata.namespace"],
    ),
    "no component": (wrapper(), ["spec.components"]),
    "a component without pods": (wrapper(SERVICE), ["spec.components"]),
    "a component without pods beside a Job": (wrapper(SERVICE, job()), []),
    "an unknown kind, whose pods nobody declares": (wrapper(GANG), ["spec.components"]),
    "an unknown kind with its pods": (wrapper(declared(GANG, (LISTED, 2))), []),
    "a known kind in another version": (
        wrapper(of("ray.io/v1alpha1", "RayCluster", headGroupSpec={"template": {"spec": POD}})),
        ["spec.components"],
    ),
    "eight Jobs": (wrapper(*[job()] * 8), []),
    "nine Jobs": (wrapper(*[job()] * 9), ["spec.components"]),
    "a Job with its pods": (wrapper(declared(job(3), (TEMPLATE, 3))), []),
    "a Job of one pod, whose number is not declared": (wrapper(declared(job(1), (TEMPLATE, None))), []),
    "another number of pods": (wrapper(declared(job(3), (TEMPLATE, 2))), ["spec.components[0].podSets[0].replicas"]),
    "no number of pods": (wrapper(declared(job(3), (TEMPLATE, None))), ["spec.components[0].podSets[0].replicas"]),
    "an empty path": (wrapper(declared(job(), ("", 2))), ["spec.components[0].podSets[0].path"]),
    "a path from elsewhere": (wrapper(declared(GANG, ("spec.groups", 2))), ["spec.components[0].podSets[0].path"]),
    "a path to no field": (
        wrapper(declared(GANG, ("template.spec.nothing", 2))),
        ["spec.components[0].podSets[0].path"],
    ),
    "a path behind the end of a list": (
        wrapper(declared(GANG, ("template.spec.groups[1].template", 2))),
        ["spec.components[0].podSets[0].path"],
    ),
    "a path with a word as index": (
        wrapper(declared(GANG, ("template.spec.groups[a].template", 2))),
        ["spec.components[0].podSets[0].path"],
    ),
    "a path that no dot continues": (
        wrapper(declared(GANG, ("templatespec", 2))),
        ["spec.components[0].podSets[0].path"],
    ),
    "a path to a number": (wrapper(declared(GANG, ("template.spec.size", 2))), ["spec.components[0].podSets[0].path"]),
    "a path to a pod's specification": (
        wrapper(declared(GANG, (f"{LISTED}.spec", 2))),
        ["spec.components[0].podSets[0].path"],
    ),
    "a path twice": (
        wrapper(declared(GANG, (LISTED, 1), (LISTED, 1))),
        ["spec.components[0].podSets[1].path"],
    ),
    "one pod set more than a Job has": (
        wrapper(declared({**job(), "other": {"spec": POD}}, (TEMPLATE, 2), ("template.other", 2))),
        ["spec.components[0].podSets"],
    ),
}


@pytest.mark.parametrize(("value", "places"), CREATED.values(), ids=CREATED)
def test_a_new_app_wrapper_is_refused_as_the_webhook_refuses_it(value: dict[str, Any], places: list[str]) -> None:
    """Each refusal stands at the field that the webhook names."""
    assert refused(value) == places


USER = "workload.codeflare.dev/user"


def labelled(value: dict[str, Any], user: str) -> dict[str, Any]:
    """Return an AppWrapper with the label of its user."""
    return {**value, "metadata": {**value["metadata"], "labels": {USER: user}}}


CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "nothing": (wrapper(job()), wrapper(job()), []),
    "whether it is suspended": (wrapper(job()), wrapper(job(), suspend=True), []),
    "the number of pods": (wrapper(job()), wrapper(job(3)), ["spec.components[0].template"]),
    "one component more": (wrapper(job()), wrapper(job(), job()), ["spec.components"]),
    "pods that are declared now": (
        wrapper(job()),
        wrapper(declared(job(), (TEMPLATE, 2))),
        ["spec.components[0].podSets"],
    ),
    "who manages it": (wrapper(job()), wrapper(job(), managedBy="example.com/other"), ["spec.managedBy"]),
    "whose it is": (
        labelled(wrapper(job()), "ada"),
        labelled(wrapper(job()), "eve"),
        [f'metadata.labels["{USER}"]'],
    ),
}


@pytest.mark.parametrize(("old", "value", "places"), CHANGED.values(), ids=CHANGED)
def test_a_changed_app_wrapper_is_refused_as_the_webhook_refuses_it(
    old: dict[str, Any], value: dict[str, Any], places: list[str]
) -> None:
    """Components, manager and user are immutable."""
    assert refused(value, old) == places


ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": []}
UNCREATED = {
    "a Service": (SERVICE, None),
    "a ClusterRole, which is in no namespace": (ROLE, "may not create a ClusterRole"),
    "a kind that the operator's role lacks": (of("v1", "ConfigMap"), "may not create a ConfigMap"),
}


@pytest.mark.parametrize(("held", "message"), UNCREATED.values(), ids=UNCREATED)
def test_a_held_object_that_the_operator_may_not_create_is_a_warning(held: dict[str, Any], message: str | None) -> None:
    """Rights may be granted elsewhere, so the AppWrapper stays valid."""
    found = judged(wrapper(job(), held))
    said = [item for item in found.findings if item.rule == "webhook/appwrapper-role"]
    assert found.verdict == "valid"
    assert [(item.path, item.severity) for item in said] == (
        [("spec.components[1].template.kind", Severity.WARNING)] if message else []
    )
    assert all(message in item.message for item in said if message)


def test_without_the_operator_nobody_asks() -> None:
    """A cluster that has the definition alone has no webhook, and Kueue's own asks nothing of components."""
    kind = judge().catalog.kinds["workload.codeflare.dev", "AppWrapper"]["v1beta2"]
    for projects in ({}, {"kueue": "0.19.2"}):
        assert list(webhooks.check(wrapper(), kind=kind, projects=projects)) == []
    assert [item.path for item in webhooks.check(wrapper(), kind=kind, projects={"appwrapper": "1.2.1"})] == [
        ("spec", "components")
    ]
