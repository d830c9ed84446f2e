"""Patches are merged as Kubernetes merges them."""

from __future__ import annotations

import pytest

from trainyard.upstream.workloads import carriers
from trainyard.upstream.workloads.merge import merge

MERGES = {
    "lists by their key": (
        {"volumes": [{"name": "a", "x": 1}, {"name": "b"}]},
        {"volumes": [{"name": "b", "y": 2}, {"name": "c"}]},
        {"volumes": [{"name": "a", "x": 1}, {"name": "b", "y": 2}, {"name": "c"}]},
    ),
    "mounts by path": (
        {"volumeMounts": [{"name": "a", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/a"}]},
    ),
    "ports of a container and of a Service": (
        {"ports": [{"containerPort": 1}, {"port": 2}]},
        {"ports": [{"containerPort": 1, "name": "a"}, {"port": 2, "name": "b"}]},
        {"ports": [{"containerPort": 1, "name": "a"}, {"port": 2, "name": "b"}]},
    ),
    "an item is deleted by its key": (
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "A", "$patch": "delete"}]},
        {"env": [{"name": "B", "value": "2"}]},
    ),
    "a list without keys is replaced": ({"args": ["a", "b"]}, {"args": ["c"]}, {"args": ["c"]}),
    "null removes, deep down": ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
    "null in what is new is nothing": ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    "a value takes the place of a map": ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
    "items without a key are added": ({"env": [1]}, {"env": [2]}, {"env": [1, 2]}),
}


@pytest.mark.parametrize(("body", "given", "expected"), MERGES.values(), ids=MERGES)
def test_merge(body, given, expected):
    """Lists are merged by the keys that Kubernetes merges them by; the order of what was there stays."""
    before = repr(body)
    assert merge(body, given, lists={}) == expected
    assert repr(body) == before


def test_lists_of_a_kind_are_merged_by_its_own_keys():
    """A JobSet's replicated jobs are told apart by their names; to another kind they are a list like any."""
    body = {"replicatedJobs": [{"name": "worker", "replicas": 1, "x": 1}, {"name": "ps"}]}
    given = {"replicatedJobs": [{"name": "worker", "replicas": 2}]}
    lists = carriers()["jobset.x-k8s.io", "JobSet"].lists
    assert merge(body, given, lists=lists) == {
        "replicatedJobs": [{"name": "worker", "replicas": 2, "x": 1}, {"name": "ps"}]
    }
    assert merge(body, given, lists={}) == given
