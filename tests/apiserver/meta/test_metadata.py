"""Metadata: names by kind, labels, annotations, owners, finalizers, and what an update may not change."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.core_objects import altered, named
from trainyard.upstream.apiserver import Problem
from trainyard.upstream.apiserver.meta import metadata

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "1"}
POD = named("v1", "Pod")
RUN = named("example.com/v1", "Run")

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "no name": (POD, {"metadata": {}}, "metadata.name"),
    "a name that the server makes up": (POD, {"metadata": {"generateName": "a-"}}, None),
    "a prefix that no name can start with": (POD, {"metadata": {"generateName": "Ab-"}}, "metadata.generateName"),
    "a name in upper case": (POD, {"metadata.name": "A"}, "metadata.name"),
    "a name with an underscore": (RUN, {"metadata.name": "a_b"}, "metadata.name"),
    "a name with dots": (POD, {"metadata.name": "a.b"}, None),
    "a name of 253 characters": (RUN, {"metadata.name": "a" * 253}, None),
    "a name of 254": (RUN, {"metadata.name": "a" * 254}, "metadata.name"),
    "a service's name with a dot": (named("v1", "Service"), {"metadata.name": "a.b"}, "metadata.name"),
    "a namespace's name with a dot": (named("v1", "Namespace"), {"metadata.name": "a.b"}, "metadata.name"),
    "a role's name is a path segment": (
        named("rbac.authorization.k8s.io/v1", "ClusterRole"),
        {"metadata.name": "system:A b"},
        None,
    ),
    "a role's name with a slash": (
        named("rbac.authorization.k8s.io/v1", "ClusterRole"),
        {"metadata.name": "a/b"},
        "metadata.name",
    ),
    "a namespace that is no label": (POD, {"metadata.namespace": "a.b"}, "metadata.namespace"),
    "a label's value with a space": (POD, {"metadata.labels": {"a": "b c"}}, "metadata.labels.a"),
    "a label's value of 64 characters": (POD, {"metadata.labels": {"a": "b" * 64}}, "metadata.labels.a"),
    "a label without a value": (POD, {"metadata.labels": {"a": ""}}, None),
    "a label's key with a domain": (POD, {"metadata.labels": {"kueue.x-k8s.io/queue-name": "q"}}, None),
    "a label's key with two slashes": (POD, {"metadata.labels": {"a/b/c": ""}}, "metadata.labels.a/b/c"),
    "a label's key with a domain in upper case": (POD, {"metadata.labels": {"A.io/b": ""}}, "metadata.labels.A.io/b"),
    "an annotation may have any value": (POD, {"metadata.annotations": {"a": "b c\n{}"}}, None),
    "an annotation's domain may be in upper case": (POD, {"metadata.annotations": {"A.io/B": ""}}, None),
    "an annotation's key with a space": (POD, {"metadata.annotations": {"a b": ""}}, "metadata.annotations.a b"),
    "annotations of 256 KiB": (POD, {"metadata.annotations": {"a": "b" * (256 * 1024 - 1)}}, None),
    "annotations of a byte more": (POD, {"metadata.annotations": {"a": "b" * (256 * 1024)}}, "metadata.annotations"),
    "an owner": (POD, {"metadata.ownerReferences": [OWNER]}, None),
    "an owner without a uid": (
        POD,
        {"metadata.ownerReferences": [{**OWNER, "uid": ""}]},
        "metadata.ownerReferences[0].uid",
    ),
    "two controllers": (
        POD,
        {"metadata.ownerReferences": [{**OWNER, "controller": True}, {**OWNER, "uid": "2", "controller": True}]},
        "metadata.ownerReferences",
    ),
    "a finalizer of Kubernetes": (POD, {"metadata.finalizers": ["foregroundDeletion"]}, None),
    "a finalizer without a domain": (POD, {"metadata.finalizers": ["a"]}, "metadata.finalizers[0]"),
    "an event's finalizer without one": (named("v1", "Event"), {"metadata.finalizers": ["a"]}, None),
    "a stricter event's finalizer without one": (
        named("events.k8s.io/v1", "Event"),
        {"metadata.finalizers": ["a"]},
        "metadata.finalizers[0]",
    ),
    "a custom resource's finalizer without one": (RUN, {"metadata.finalizers": ["a"]}, None),
    "a finalizer that is no name": (RUN, {"metadata.finalizers": ["a b"]}, "metadata.finalizers[0]"),
    "two ways to delete": (
        POD,
        {"metadata.finalizers": ["orphan", "foregroundDeletion"]},
        "metadata.finalizers",
    ),
    "fields that the server manages": (POD, {"metadata.managedFields": [{}]}, "metadata.managedFields"),
    "a version that it counts is ignored": (POD, {"metadata.resourceVersion": "5", "metadata.generation": 3}, None),
    "a uid on create": (POD, {"metadata.uid": "1"}, "metadata.uid"),
    "metadata of another type": (POD, {"metadata": []}, None),
    "names of other types": (POD, {"metadata.namespace": 5, "metadata.labels": [], "metadata.finalizers": {}}, None),
}


def fields(problems: list[Problem]) -> set[str]:
    """Spell the fields of problems."""
    return {
        "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.path).removeprefix(".")
        for problem in problems
    }


@pytest.mark.parametrize("case", CASES)
def test_metadata(case: str) -> None:
    """What is wrong is refused at its field, and nothing else is."""
    base, changes, field = CASES[case]
    problems = list(metadata.check(altered(base, changes), kubernetes="1.35"))
    assert fields(problems) == ({field} if field else set()), problems


def test_a_namespace_is_dropped_where_there_is_none() -> None:
    """The server drops the namespace of an object of the whole cluster, so even a wrong one is right."""
    node = altered(named("v1", "Node"), {"metadata.namespace": "A"})
    run = altered(RUN, {"metadata.namespace": "A"})
    assert not list(metadata.check(node, kubernetes="1.35"))
    assert not list(metadata.check(run, kubernetes="1.35", namespaced=False))
    assert fields(list(metadata.check(run, kubernetes="1.35", namespaced=True))) == {"metadata.namespace"}


def test_services_may_start_with_a_digit_from_1_36_on() -> None:
    """The rule for the names of Services was relaxed."""
    service = named("v1", "Service") | {"metadata": {"name": "1a"}}
    assert list(metadata.check(service, kubernetes="1.35"))
    assert not list(metadata.check(service, kubernetes="1.36"))


UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "labels may change": ({"metadata.labels": {"a": "b"}}, {"metadata.labels": {"a": "c"}}, None),
    "the uid may not": ({"metadata.uid": "1"}, {"metadata.uid": "2"}, "metadata.uid"),
    "a uid that the old object shows": ({"metadata.uid": "1"}, {"metadata.uid": "1"}, None),
    "a finalizer while it is being deleted": (
        {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"},
        {"metadata.finalizers": ["a.io/b"]},
        "metadata.finalizers",
    ),
    "one less": (
        {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z", "metadata.finalizers": ["a.io/b"]},
        {"metadata.finalizers": []},
        None,
    ),
}


@pytest.mark.parametrize("case", UPDATES)
def test_updates(case: str) -> None:
    """What an update may not change is refused."""
    before, changes, field = UPDATES[case]
    problems = list(metadata.check(altered(RUN, changes), kubernetes="1.35", old=altered(RUN, before)))
    assert fields(problems) == ({field} if field else set()), problems
