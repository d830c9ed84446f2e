"""Command lines and environments as the kubelet works them out."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.faces.local import RunError, pods, work_of
from trainyard.faces.local.expansion import expand

TEXTS = {
    "a known one": ("a $(A) b", "a 1 b"),
    "two at once": ("$(A)$(B)", "12"),
    "an unknown one stays": ("$(C)", "$(C)"),
    "two dollars are one, and refer to nothing": ("$$(A)", "$(A)"),
    "three dollars are one, then a reference": ("$$$(A)", "$1"),
    "an unfinished one stays": ("$(A", "$(A"),
    "braces are not for Kubernetes": ("${A} $A", "${A} $A"),
    "a dollar at the end": ("a$", "a$"),
    "nothing in it": ("$()", "$()"),
    "what is replaced is not looked at again": ("$(D)", "$(A)"),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_references_are_expanded_as_kubernetes_does(text, expected):
    """Known references are replaced, all else stays."""
    assert expand(text, {"A": "1", "B": "2", "D": "$(A)"}) == expected


def job(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a Job with one container."""
    pod = {"containers": [{"name": "main", **container}], **spec}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "it", "namespace": "nlp"},
        "spec": {"completions": 1, "completionMode": "Indexed", "template": {"spec": pod}},
    }


CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "nlp"},
    "data": {"RATE": "3", "B": "of the map"},
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "keys", "namespace": "nlp"},
    "data": {"token": "aGlkZGVu"},
    "stringData": {"plain": "seen"},
}


def ref(kind: str, name: str, key: str, **more: Any) -> dict[str, Any]:
    """Return where a variable comes from."""
    return {"valueFrom": {kind: {"name": name, "key": key, **more}}}


def field(path: str) -> dict[str, Any]:
    """Return a variable's source: a field of the pod."""
    return {"valueFrom": {"fieldRef": {"fieldPath": path}}}


def amount(resource: str, **more: Any) -> dict[str, Any]:
    """Return a variable's source: an amount of the container."""
    return {"valueFrom": {"resourceFieldRef": {"resource": resource, **more}}}


VARIABLES: dict[str, tuple[dict[str, Any], str | None]] = {
    "a text": ({"value": "a b"}, "a b"),
    "one that names an earlier one": ({"value": "$(EARLY)!"}, "early!"),
    "one that names a later one": ({"value": "$(LATE)!"}, "$(LATE)!"),
    "one that names what a ConfigMap brings": ({"value": "$(RATE)"}, "3"),
    "nothing": ({}, ""),
    "a key of a ConfigMap": (ref("configMapKeyRef", "settings", "RATE"), "3"),
    "a key that may be missing": (ref("configMapKeyRef", "settings", "NO", optional=True), None),
    "a key of a Secret": (ref("secretKeyRef", "keys", "token"), "hidden"),
    "a Secret's text": (ref("secretKeyRef", "keys", "plain"), "seen"),
    "a Secret that nobody gave": (ref("secretKeyRef", "absent", "token"), ""),
    "its name": (field("metadata.namespace"), "nlp"),
    "a label": (field("metadata.labels['batch.kubernetes.io/job-completion-index']"), "0"),
    "a label that is not there": (field("metadata.labels['example.com/none']"), ""),
    "its address": (field("status.podIP"), "10.77.0.2"),
    "CPUs, rounded up": (amount("limits.cpu"), "2"),
    "CPUs in thousandths": (amount("limits.cpu", divisor="1m"), "1500"),
    "memory in Mi": (amount("requests.memory", divisor="1Mi"), "1024"),
    "a request that is not there is the limit": (amount("requests.cpu"), "2"),
}


@pytest.mark.parametrize(("variable", "expected"), VARIABLES.values(), ids=VARIABLES)
def test_variables_come_from_where_they_say(variable, expected):
    """A variable is a text with references to those before it, or a key, field or amount."""
    env = [{"name": "EARLY", "value": "early"}, {"name": "IT", **variable}, {"name": "LATE", "value": "late"}]
    amounts = {"limits": {"cpu": "1500m"}, "requests": {"memory": "1Gi"}}
    container = {"env": env, "envFrom": [{"configMapRef": {"name": "settings"}}], "resources": amounts}
    (pod,) = pods([job(container), CONFIG, SECRET])
    assert pod.main.env.get("IT") == expected


def test_later_variables_win_and_commands_see_all():
    """Of two of one name the last counts; commands see every variable, whatever its place."""
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "own"}, {"name": "A", "value": "2"}]
    source = [{"prefix": "MAP_", "configMapRef": {"name": "settings"}}, {"configMapRef": {"name": "settings"}}]
    container = {"command": ["run", "$(A)"], "args": ["$(B)", "$(MAP_B)"], "env": env, "envFrom": source}
    (pod,) = pods([job(container), CONFIG])
    assert pod.main.command == ("run", "2", "own", "of the map")


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "a ConfigMap": (
        {"envFrom": [{"configMapRef": {"name": "absent"}}]},
        "needs ConfigMap 'absent', which is missing here; add its file",
    ),
    "a key": ({"env": [{"name": "A", **ref("configMapKeyRef", "settings", "NO")}]}, "key 'NO' of ConfigMap 'settings'"),
    "a field": ({"env": [{"name": "A", **field("spec.color")}]}, "'spec.color'"),
}


@pytest.mark.parametrize(("container", "message"), MISSING.values(), ids=MISSING)
def test_what_would_not_start_is_said(container, message):
    """A container that the kubelet would not start is an error that names what is missing."""
    with pytest.raises(RunError, match=message):
        pods([job(container), CONFIG])


NAMED = [
    job({"command": ["a"]}, subdomain="there"),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "there", "namespace": "nlp"},
        "spec": {"clusterIP": "None", "selector": {"job-name": "it"}},
    },
]


def test_names_are_those_of_services_that_are_there():
    """A pod has a name below its subdomain only where a headless Service of that name selects it."""
    (work,) = work_of(NAMED)
    assert set(work.names.values()) == {("10.77.0.2",)}
    assert {"there", "it-0.there", "it-0.there.nlp.svc", "it-0.there.nlp.svc.cluster.local"} <= set(work.names)
    (alone,) = work_of(NAMED[:1])
    assert alone.names == {}
    other = {**NAMED[1], "spec": {"clusterIP": "None", "selector": {"job-name": "else"}}}
    (unselected,) = work_of([NAMED[0], other])
    assert unselected.names == {}


def test_an_array_has_all_its_indices():
    """Every index of an array is there, though a few run at once."""
    array = job({"command": ["a"]})
    array["spec"] |= {"completions": 5, "parallelism": 2}
    assert [pod.main.env["JOB_COMPLETION_INDEX"] for pod in pods([array])] == ["0", "1", "2", "3", "4"]
