"""Updates as server-side apply makes them: what was applied goes with it, what the server filled in stays."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest

from apiserver import core_objects as objects
from trainyard.base.documents import dump
from trainyard.base.manifests import Manifest
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog
from trainyard.upstream.apiserver.schema import apply

TEXT = {"type": "string"}
NAMED = {"type": "object", "properties": {"name": TEXT, "value": TEXT, "kept": TEXT}}
NODE = {
    "type": "object",
    "properties": {
        "plain": TEXT,
        "map": {"type": "object", "additionalProperties": TEXT},
        "whole": {"type": "object", "additionalProperties": TEXT, "x-kubernetes-map-type": "atomic"},
        "named": {
            "type": "array",
            "items": NAMED,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "set": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        "list": {"type": "array", "items": TEXT},
    },
}

MERGES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a default stays": ({"a": "x", "plain": "given"}, {"a": "x"}, {"a": "y"}, {"a": "y", "plain": "given"}),
    "what was applied goes": ({"plain": "x", "a": "b"}, {"plain": "x", "a": "b"}, {"a": "b"}, {"a": "b"}),
    "a map keeps the entries of others": (
        {"map": {"mine": "1", "other": "2"}},
        {"map": {"mine": "1"}},
        {"map": {"new": "3"}},
        {"map": {"other": "2", "new": "3"}},
    ),
    "a field goes with what the server put into it": ({"map": {"a": "1", "b": "2"}}, {"map": {"a": "1"}}, {}, None),
    "an atomic map is one value": ({"whole": {"a": "1"}}, {}, {"whole": {"b": "2"}}, {"whole": {"b": "2"}}),
    "a map that loses its last entry is null": ({"map": {"a": "1"}}, {"map": {"a": "1"}}, {"map": {}}, {"map": None}),
    "elements are told apart by their keys": (
        {"named": [{"name": "a", "kept": "k"}, {"name": "b"}, {"name": "other"}]},
        {"named": [{"name": "a", "value": "1"}, {"name": "b"}]},
        {"named": [{"name": "a", "value": "2"}, {"name": "c"}]},
        {"named": [{"name": "a", "kept": "k", "value": "2"}, {"name": "c"}, {"name": "other"}]},
    ),
    "a set keeps what others put in": (
        {"set": ["a", "b", "c"]},
        {"set": ["a"]},
        {"set": ["d"]},
        {"set": ["d", "b", "c"]},
    ),
    "a plain list is one value": ({"list": ["a", "b"]}, {"list": ["a"]}, {"list": ["c"]}, {"list": ["c"]}),
    "null over a map takes away what was applied": (
        {"map": {"a": "1", "b": "2"}},
        {"map": {"a": "1"}},
        {"map": None},
        {"map": {"b": "2"}},
    ),
    "null over a text is what is written": ({"plain": "x"}, {"plain": "x"}, {"plain": None}, {"plain": None}),
}


@pytest.mark.parametrize("case", MERGES)
def test_merge(case: str) -> None:
    """The result is what the last applied and the new object make of the live one."""
    live, before, now, expected = MERGES[case]
    assert apply.merge(live, before, now, NODE) == expected


DEPLOYMENT = objects.named(
    "apps/v1",
    "Deployment",
    spec={
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "c:1"}]},
        },
    },
)
SECRET = objects.named("v1", "Secret", type="kubernetes.io/ssh-auth", stringData={"ssh-privatekey": "k"})
HEADLESS = objects.named("v1", "Service", spec={"clusterIP": "None", "ports": [{"port": 80}]})
CLAIM = objects.named(
    "v1",
    "PersistentVolumeClaim",
    spec={
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "dataSourceRef": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"},
    },
)
FROZEN = objects.named("v1", "ConfigMap", immutable=True, data={"a": "b"})

UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "a strategy that rolls leaves its settings behind": (DEPLOYMENT, {"spec.strategy": {"type": "Recreate"}}, False),
    "null does not take them away": (
        DEPLOYMENT,
        {"spec.strategy": {"type": "Recreate", "rollingUpdate": None}},
        False,
    ),
    "a stored Pod keeps its pull policy": (objects.POD, {"spec.containers.0.image": "b"}, True),
    "a Pod keeps its account": (objects.POD, {"spec.serviceAccountName": "other"}, False),
    "a Pod is put on no node by hand": (objects.POD, {"spec.nodeName": "other"}, False),
    "text of a Secret stays as its data": (SECRET, {"stringData": objects.GONE}, True),
    "a headless Service stays headless": (HEADLESS, {"spec": {}}, True),
    "a source in another namespace": (CLAIM, {"spec.dataSourceRef.namespace": "other"}, False),
    "an empty map in a frozen ConfigMap": (FROZEN, {"binaryData": {}}, False),
}


@cache
def judge() -> Judge:
    """Return the judge of a server without operators."""
    known, _ = catalog.load(schemas_dir(None), kubernetes="1.35", projects={})
    return Judge(known)


@pytest.mark.parametrize("case", UPDATES)
def test_update(case: str) -> None:
    """An update is judged as the object that apply makes of the stored one."""
    old, changes, right = UPDATES[case]
    new = objects.altered(old, changes)
    judgement = judge().judge(manifest(new), old=copy.deepcopy(old))
    assert (judgement.verdict == "valid") == right, judgement.findings


def manifest(value: dict[str, Any]) -> Manifest:
    """Return an object as if it had been read from a file."""
    found, problems = decode("a.yaml", dump(value).encode())
    assert not problems
    return found[0]


def test_the_specification_of_a_signing_request_stays() -> None:
    """An update of it changes nothing, whatever it says."""
    old = objects.named("certificates.k8s.io/v1", "CertificateSigningRequest", spec={"signerName": "a.b/c"})
    new = objects.altered(old, {"spec.usages": ["nothing known"]})
    assert judge().judge(manifest(new)).verdict == "invalid"
    assert judge().judge(manifest(new), old=old).verdict == "valid"
