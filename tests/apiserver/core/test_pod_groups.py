"""PodGroups, Workloads and CompositePodGroups are judged as a kube-apiserver 1.37.2 with their gates judged them."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from trainyard.base.documents import load as read
from trainyard.base.manifests import Manifest
from trainyard.upstream.apiserver import Around, Judge, Missing
from trainyard.upstream.apiserver.catalog import load
from trainyard.upstream.apiserver.core.groupfields import COMPOSITE, GATED
from trainyard.upstream.apiserver.gates import Gates

DATA = ROOT / "tests/apiserver/data"
WORKLOAD = frozenset({"GenericWorkload"})
EVERY = WORKLOAD | {COMPOSITE, *GATED.values()}
RECORDED = {"pod_groups.jsonl": (WORKLOAD, 40, 35), "composite_groups.jsonl": (EVERY, 140, 50)}
"""What a server with these gates was asked, and at least how many it refused and took."""
FORBIDDEN = "is forbidden"
"""What the server says of a priority, by its classes: of no field."""


@pytest.fixture(scope="module")
def catalog():
    """The kinds of 1.37."""
    return load(ROOT / "schemas", kubernetes="1.37")[0]


@pytest.mark.parametrize(("file", "gates", "least", "most"), [(file, *row) for file, row in RECORDED.items()])
def test_groups_are_judged_as_the_server_judged_them(catalog, file, gates, least, most):
    """The same objects and changes are refused, at the same fields."""
    judge = Judge(catalog, around=Around(gates=Gates(gates)))
    lines = [json.loads(line) for line in (DATA / file).read_text(encoding="utf-8").splitlines()]
    refused = 0
    for line in lines:
        (document,), _ = read(json.dumps(line["object"]).encode(), file="g.yaml")
        judged = judge.judge(Manifest(document, document.value), old=line.get("old"))
        expected = line["paths"]
        assert (judged.verdict == "invalid") == (expected is not None), line
        refused += expected is not None
        if expected is not None and not any(FORBIDDEN in path or path == "spec.priority" for path in expected):
            assert sorted({finding.path for finding in judged.findings}) == expected, line
    assert refused > least
    assert len(lines) - refused > most


GROUP = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "n"}}
LEFT_OUT = {
    "levels of a topology": ("schedulingConstraints", {"topology": [{"key": "example.com/rack"}]}),
    "claims": ("resourceClaims", [{"name": "c", "resourceClaimName": "x"}]),
    "a preemption policy": ("preemptionPolicy", "PreemptLowerPriority"),
    "a parent": ("parentCompositePodGroupName", "p"),
}


@pytest.mark.parametrize(("field", "value"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_fields_that_a_server_leaves_out_are_told(catalog, field, value):
    """Their gates are off: the group is valid, and not what is written; with the gates on nothing is said."""
    reference = {"workloadName": "w", "templateName": "t"}
    spec = {"workloadRef": reference, "schedulingPolicy": {"gang": {"minCount": 2}}, field: value}
    (document,), _ = read(json.dumps({**GROUP, "spec": spec}).encode(), file="g.yaml")
    manifest = Manifest(document, document.value)
    judged = Judge(catalog, around=Around(gates=Gates(WORKLOAD))).judge(manifest)
    assert [(one.rule, one.path, one.is_error) for one in judged.findings] == [
        ("core/gate-off", f"spec.{field}", False)
    ]
    assert not Judge(catalog, around=Around(gates=Gates(EVERY))).judge(manifest).findings


def test_composite_groups_need_their_own_gate(catalog):
    """The server knows the kind by it alone."""
    kind = ("scheduling.k8s.io", "v1alpha3", "CompositePodGroup")
    found = catalog.lookup(*kind, gates=WORKLOAD)
    assert isinstance(found, Missing)
    assert found.message.endswith("feature gate CompositePodGroup and --runtime-config=scheduling.k8s.io/v1alpha3=true")
    assert not isinstance(catalog.lookup(*kind, gates=EVERY), Missing)


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
