"""Our verdict is the server's: recorded cases are replayed, and a real server is asked where one is named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from random import Random
from runpy import run_path
from types import SimpleNamespace

import pytest

from apiserver.agreement import cases, record
from apiserver.agreement.mutate import mutate
from apiserver.agreement.verdicts import Case, Ours, Table, Theirs, ours, theirs
from conftest import ROOT
from trainyard.upstream.apiserver import catalog

KUBERNETES = "1.35"
"""Release of the server that labelled the recorded cases."""


@pytest.fixture(scope="module")
def known():
    """The kinds of the server that labelled the cases; it had AppWrapper's definition, and not AppWrapper's webhook."""
    found = catalog.load(ROOT / "schemas", kubernetes=KUBERNETES)[0]
    return replace(found, projects={name: at for name, at in found.projects.items() if name != "appwrapper"})


@pytest.mark.slow
def test_recorded_verdicts_are_ours(known):
    """Every case that a server judged is judged alike, and the set holds both verdicts of nearly every kind."""
    table = Table(known)
    kinds: dict[str, set[bool]] = {}
    for case, valid, reason in record.load_cases():
        mine = ours(case, known)
        table.add(case, mine, Theirs(valid, reason=reason))
        kinds.setdefault(f"{case.object.get('apiVersion')} {case.object.get('kind')}", set()).add(valid)
    wrong = [
        f"{cell}: {case.object.get('kind')}: {case.note}: {mine.reason or real.reason}"
        for cell, case, mine, real in table.differences
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(verdicts == {True, False} for verdicts in kinds.values()) >= 190
    assert table.total["accepted"] >= 500
    assert table.total["refused"] >= 1000


OTHERWISE = {("Queue", "update: spec.capability.a1 := 0"): False}
"""Verdicts of newer releases than the recorded one's: Volcano 1.14.1 took no capability for a capability of 0.

Source: volcano v1.15.1 pkg/webhooks/admission/queues/validate/validate_queue.go validateResourceQuantityOfQueue.
"""


@pytest.mark.slow
def test_systematic_verdicts_are_ours(known):
    """Custom resources of which one field was changed, on creation and over what exists, are judged as a server did."""
    wrong = [
        f"{case.object.get('kind')}: {case.note}: {mine.reason or reason}"
        for case, valid, reason in record.load_cases(record.SYSTEMATIC)
        if (mine := ours(case, known)).valid != OTHERWISE.get((case.object.get("kind"), case.note), valid)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_served_kind_has_a_valid_object(known):
    """The mutator starts from an object of every kind, but for those that say nothing or need what nobody has here."""
    without = {
        f"{item.api_version} {item.kind}" for item in known.served() if not item.group.endswith("external-secrets.io")
    } - set(cases.bases(known))
    assert without <= WITHOUT, without - WITHOUT


WITHOUT = {
    *(f"authorization.k8s.io/v1 {kind}AccessReview" for kind in ("LocalSubject", "SelfSubject", "Subject")),
    "authorization.k8s.io/v1 SelfSubjectRulesReview",
    "authentication.k8s.io/v1 SelfSubjectReview",
    "authentication.k8s.io/v1 TokenReview",
    "v1 Binding",
    "certificates.k8s.io/v1 CertificateSigningRequest",
    "kubeflow.org/v1 MPIJob",
    "disaggregatedset.x-k8s.io/v1 DisaggregatedSetRoleScaler",
    "apps.wandb.com/v1 WeightsAndBiases",
    "bitnami.com/v1alpha1 SealedSecret",
    "csi.ceph.io/v1 ClientProfile",
    "csi.ceph.io/v1 Driver",
    "disaggregatedset.x-k8s.io/v1 DisaggregatedSet",
    "karpenter.sh/v1 NodeClaim",
    "networking.gke.io/v1alpha1 GKENetworkParamSet",
    "networking.gke.io/v1alpha1 Network",
    "nvidia.com/v1alpha1 GPUCluster",
    "policies.kyverno.io/v1 GeneratingPolicy",
    "policies.kyverno.io/v1 NamespacedGeneratingPolicy",
    *(f"groupsnapshot.storage.k8s.io/{version} VolumeGroupSnapshotContent" for version in ("v1", "v1beta1", "v1beta2")),
    "snapshot.storage.k8s.io/v1 VolumeSnapshotContent",
}
"""Requests that are answered and not stored, and kinds whose schemas say too little to make an object from.

Besides these no server was asked yet about objects of External Secrets.
"""


def test_objects_are_valid(known):
    """What the mutator starts from is valid before it is changed."""
    refused = {
        f"{name} {value['metadata']['name']}": verdict.reason
        for name, found in cases.bases(known).items()
        for _, value in found
        if not (verdict := ours(Case(value), known)).valid
    }
    assert not refused


@pytest.mark.slow
def test_changes_are_reproducible(known):
    """The same seed makes the same cases; another makes others; the object itself is left as it is."""
    first = [(creation.source, creation.old) for creation in cases.creations(known, seed="a", count=40)]
    assert first == [(creation.source, creation.old) for creation in cases.creations(known, seed="a", count=40)]
    assert first != [(creation.source, creation.old) for creation in cases.creations(known, seed="b", count=40)]
    kind, value = cases.bases(known)["v1 Pod"][0]
    before = repr(value)
    for number in range(50):
        mutate(value, kind.schema, Random(number))
    assert repr(value) == before


def test_the_table_counts_both_mistakes(known):
    """A false accept and a false reject stand in their own columns, and a server that says nothing is not counted."""
    table = Table(known)
    pod = Case({"apiVersion": "v1", "kind": "Pod"})
    table.add(pod, Ours(True), Theirs(False, reason="422 spec.x: Required value"))
    table.add(pod, Ours(False, "core"), Theirs(True))
    table.add(pod, Ours(True), Theirs(True))
    table.add(pod, Ours(True), Theirs(False, told=False))
    assert dict(table.kinds["v1 Pod"]) == {"false accept": 1, "false reject": 1, "accepted": 1}
    assert table.silent == 1
    assert table.worst() == 1.0


@pytest.mark.cluster
def test_a_server_agrees():
    """A real server judges a sample of new cases as we do; `tools/agreement.py` asks about thousands."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig:
        pytest.skip("our verdict against a real API server's: set TRAINYARD_KUBECONFIG")
    from trainyard.faces.live.server import Server

    server = Server(kubeconfig=Path(kubeconfig))
    found, _ = catalog.load(ROOT / "schemas", kubernetes=server.version())
    table = Table(found)
    for case in cases.creations(found, seed="test", count=1000):
        table.add(case, ours(case, found), theirs(case, found, server))
    assert table.total.total() >= 900
    assert table.worst() <= 0.005, table.text(by_kind=False)


RULES = [{"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"]}]
HOOKED = {
    "no webhook": ([], ["jobset.x-k8s.io"]),
    "its webhook": ([{"webhooks": [{"rules": RULES}]}], []),
    "a webhook of everything": ([{"webhooks": [{"rules": [{"apiGroups": ["*"]}]}]}], []),
    "a webhook of other kinds": ([{"webhooks": [{"rules": [{"apiGroups": ["apps"]}]}]}], ["jobset.x-k8s.io"]),
}


@pytest.mark.parametrize(("items", "silent"), HOOKED.values(), ids=HOOKED)
def test_a_server_without_the_webhook_of_an_operator_is_not_asked(items, silent):
    """We judge as the webhook does, so what such a server says otherwise is no difference of the release."""
    tool = run_path(str(ROOT / "tools/agreement.py"))
    server = SimpleNamespace(request=lambda *_: (SimpleNamespace(accepted=True), {"items": items}))
    chosen = {"jobset.x-k8s.io": "jobset", "cert-manager.io": "cert-manager"}
    assert tool["groups_without_webhook"](chosen, tool["groups_with_webhook"](server)) == silent
