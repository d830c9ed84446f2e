"""PodGroups and Workloads are judged as a kube-apiserver 1.37.2 judged them, with their gate on."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from trainyard.base.documents import load as read
from trainyard.base.manifests import Manifest
from trainyard.upstream.apiserver import Around, Judge, Missing
from trainyard.upstream.apiserver.catalog import load
from trainyard.upstream.apiserver.gates import Gates

RECORDED = ROOT / "tests/apiserver/data/pod_groups.jsonl"
FORBIDDEN = "is forbidden"
"""What the server says of a priority, by its classes: of no field."""


@pytest.fixture(scope="module")
def catalog():
    """The kinds of 1.37."""
    return load(ROOT / "schemas", kubernetes="1.37")[0]


def test_groups_are_judged_as_the_server_judged_them(catalog):
    """The same objects and changes are refused, at the same fields."""
    judge = Judge(catalog, around=Around(gates=Gates(frozenset({"GenericWorkload"}))))
    lines = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    refused = 0
    for line in lines:
        (document,), _ = read(json.dumps(line["object"]).encode(), file="g.yaml")
        judged = judge.judge(Manifest(document, document.value), old=line.get("old"))
        expected = line["paths"]
        assert (judged.verdict == "invalid") == (expected is not None), line
        refused += expected is not None
        if expected is not None and not any(FORBIDDEN in path or path == "spec.priority" for path in expected):
            assert sorted({finding.path for finding in judged.findings}) == expected, line
    assert refused > 40
    assert len(lines) - refused > 35


def test_a_kind_behind_a_gate_that_is_off_is_not_served(catalog):
    """The server does not know it, and what would make it known is said."""
    kind = ("scheduling.k8s.io", "v1beta1", "PodGroup")
    found = catalog.lookup(*kind)
    assert isinstance(found, Missing)
    assert found.message == (
        "kind 'scheduling.k8s.io/v1beta1 PodGroup' needs the feature gate GenericWorkload and "
        "--runtime-config=scheduling.k8s.io/v1beta1=true"
    )
    assert not isinstance(catalog.lookup(*kind, gates={"GenericWorkload"}), Missing)
    assert not any(one.gate for one in catalog.served())
