"""What becomes of each object when one set of manifests follows another: the words, the reasons, both reports."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from apiserver import core_objects as objects
from apiserver.agreement import record
from apiserver.agreement.verdicts import Case, theirs
from apiserver.core_objects import GONE, altered, named
from command import call
from conftest import ROOT
from trainyard.base.documents import dump, load
from trainyard.base.manifests import Manifest
from trainyard.faces.report.json_ import as_dict, schema
from trainyard.faces.report.text import render
from trainyard.judge.checks import guards
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.validate import strangers
from trainyard.upstream.apiserver import catalog

IMAGE = "spec.template.spec.containers.0.image"
LEAF = "spec.template.spec.containers[0].image"
FORCE = {"metadata.annotations": {"argocd.argoproj.io/sync-options": "Force=true,Replace=true"}}
KEEP = {"metadata.annotations": {"argocd.argoproj.io/sync-options": "Prune=false, Delete=false"}}
HELM = {"metadata.annotations": {"helm.sh/resource-policy": "keep"}}
ROLE_REF = {"roleRef.name": "b"}
SNAPSHOT = named(
    "snapshot.storage.k8s.io/v1",
    "VolumeSnapshot",
    spec={"volumeSnapshotClassName": "a", "source": {"persistentVolumeClaimName": "a"}},
)
LOCAL_QUEUE = named("kueue.x-k8s.io/v1beta2", "LocalQueue", spec={"clusterQueue": "a"})
TORCH = named(
    "kubeflow.org/v1",
    "PyTorchJob",
    spec={
        "pytorchReplicaSpecs": {
            "Worker": {"replicas": 1, "template": {"spec": {"containers": [{"name": "pytorch", "image": "a"}]}}}
        }
    },
)
KEPT_CLAIMS = altered(
    objects.STATEFUL_SET,
    {"spec.volumeClaimTemplates": [{"metadata": {"name": "a"}, "spec": objects.CLAIM["spec"]}]},
)
LOST_CLAIMS = altered(KEPT_CLAIMS, {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}})
JOB_SET = named(
    "jobset.x-k8s.io/v1alpha2",
    "JobSet",
    spec={"replicatedJobs": [{"name": "a", "template": {"spec": {"template": objects.TEMPLATE}}}]},
)
SET_IMAGE = "spec.replicatedJobs.0.template.spec.template.spec.containers.0.image"
CLAIMING = altered(
    JOB_SET,
    {
        "spec.replicatedJobs.0.template.spec.template.spec.volumes": GONE,
        "spec.volumeClaimPolicies": [{"templates": [{"metadata": {"name": "data"}, "spec": objects.CLAIM["spec"]}]}],
    },
)
RETAINED = altered(CLAIMING, {"spec.volumeClaimPolicies.0.retentionPolicy": {"whenDeleted": "Retain"}})
SCALED = altered(objects.JOB, {"spec.parallelism": 1})

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str | None]] = {
    # in place
    "nothing": (objects.JOB, {}, "in place", "valid", None),
    "a field that may change": (objects.JOB, {"spec.parallelism": 2}, "in place", "valid", None),
    "a claim that nothing restricts": (objects.CLAIM, {"metadata.labels": {"a": "b"}}, "in place", "valid", None),
    "an image of a kind that restarts its pods": (
        TORCH,
        {"spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.image": "b"},
        "in place",
        "valid",
        None,
    ),
    "a kept object, in a way that is allowed": (
        altered(objects.JOB, KEEP),
        {"spec.parallelism": 2},
        "in place",
        "valid",
        None,
    ),
    # replace
    "a job's image": (objects.JOB, {IMAGE: "b"}, "replace", "invalid", f"{LEAF} cannot change"),
    "a selector": (
        objects.DEPLOYMENT,
        {"spec.selector.matchLabels": {"b": "c"}, "spec.template.metadata.labels": {"b": "c"}},
        "replace",
        "invalid",
        "spec.selector.matchLabels",
    ),
    "the role of a binding": (objects.BINDING, ROLE_REF, "replace", "invalid", "roleRef cannot change"),
    "a class of storage": (objects.STORAGE_CLASS, {"parameters": {"a": "b"}}, "replace", "invalid", "parameters"),
    "a rule of a CRD that compares": (
        LOCAL_QUEUE,
        {"spec.clusterQueue": "b"},
        "replace",
        "invalid",
        "spec.clusterQueue cannot change",
    ),
    "what a webhook compares": (JOB_SET, {SET_IMAGE: "b"}, "replace", "invalid", "spec.replicatedJobs"),
    "a stateful set whose claims stay": (KEPT_CLAIMS, {"spec.serviceName": "b"}, "replace", "invalid", "spec"),
    "a JobSet whose claims stay": (RETAINED, {SET_IMAGE: "b"}, "replace", "invalid", "spec.replicatedJobs"),
    "two fields at once": (
        objects.JOB,
        {"spec.completionMode": "NonIndexed", IMAGE: "b"},
        "replace",
        "invalid",
        f"spec.completionMode and {LEAF} cannot change",
    ),
    "an object that Argo CD is told to make anew": (
        altered(objects.JOB, FORCE),
        {"spec.parallelism": 2},
        "replace",
        "valid",
        "its sync options",
    ),
    # refused
    "what is wrong by itself": (
        objects.JOB,
        {"spec.parallelism": -1},
        "refused",
        "invalid",
        "as a new object too",
    ),
    "what is wrong by itself, and may not change": (
        objects.JOB,
        {"spec.parallelism": -1, IMAGE: "b"},
        "refused",
        "invalid",
        "as a new object too",
    ),
    "a claim's class": (
        objects.CLAIM,
        {"spec.storageClassName": "slow"},
        "refused",
        "invalid",
        "deleting it would lose its data",
    ),
    "a volume's source": (
        objects.VOLUME,
        {"spec.nfs.path": "/b"},
        "refused",
        "invalid",
        "deleting it would lose its data",
    ),
    "the scope of a definition": (
        objects.DEFINITION,
        {"spec.scope": "Cluster"},
        "refused",
        "invalid",
        "every object of its kind",
    ),
    "a snapshot's source": (
        SNAPSHOT,
        {"spec.source.persistentVolumeClaimName": "b"},
        "refused",
        "invalid",
        "would lose the snapshot",
    ),
    "a stateful set whose claims go": (
        LOST_CLAIMS,
        {"spec.serviceName": "b"},
        "refused",
        "invalid",
        "the claims made from it",
    ),
    "a JobSet whose claims go": (CLAIMING, {SET_IMAGE: "b"}, "refused", "invalid", "the claims made from it"),
    "an object that Argo CD keeps": (
        altered(objects.JOB, KEEP),
        {IMAGE: "b"},
        "refused",
        "invalid",
        "prevents its deletion",
    ),
    "an object that Helm keeps": (
        altered(objects.BINDING, HELM),
        ROLE_REF,
        "refused",
        "invalid",
        "prevents its deletion",
    ),
}


def judge(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Result:
    """Judge objects that follow others."""
    sides = [[(name, "---\n".join(map(dump, side)).encode())] for name, side in (("new.yaml", new), ("old.yaml", old))]
    return strangers(sides[0], ROOT / "schemas", kubernetes="1.35", before=sides[1])


SIZE = "spec.resources.requests.storage"
CLASSED = altered(objects.CLAIM, {"spec.storageClassName": "a"})
GROWING = altered(objects.STORAGE_CLASS, {"metadata.name": "a", "allowVolumeExpansion": True})
SIZED = altered(GROWING, {"allowVolumeExpansion": False})
TAKEN_BACK = altered(CLASSED, {SIZE: "20Gi", "status": {"phase": "Bound", "capacity": {"storage": "10Gi"}}})
CLAIMS = {
    "a class that lets volumes grow": (CLASSED, [GROWING], "20Gi", "valid", None),
    "a class that does not": (CLASSED, [SIZED], "20Gi", "invalid", "update/volume-growth"),
    "a class that says nothing": (
        CLASSED,
        [altered(GROWING, {"allowVolumeExpansion": GONE})],
        "20Gi",
        "invalid",
        "update/volume-growth",
    ),
    "no class at all": (altered(CLASSED, {"spec.storageClassName": ""}), [], "20Gi", "invalid", "update/volume-growth"),
    "a class that is not at hand": (CLASSED, [], "20Gi", "unknown", "update/volume-growth-unknown"),
    "the default class": (
        altered(CLASSED, {"spec.storageClassName": GONE}),
        [GROWING],
        "20Gi",
        "unknown",
        "update/volume-growth-unknown",
    ),
    "a claim that says it is not bound": (
        altered(CLASSED, {"status": {"phase": "Pending"}}),
        [GROWING],
        "20Gi",
        "invalid",
        "update/volume-claim",
    ),
    "a shrink": (CLASSED, [GROWING], "5Gi", "invalid", "update/volume-claim"),
    "a growth that is taken back before it happened": (TAKEN_BACK, [GROWING], "15Gi", "valid", None),
    "the same size": (CLASSED, [], "10240Mi", "valid", None),
}


@pytest.mark.parametrize(("old", "others", "size", "verdict", "rule"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_in_a_file_is_bound_by_the_time_it_grows(old, others, size, verdict, rule):
    """Its class decides, and where that is not at hand the object is unknown, which fails nobody."""
    result = judge([old, *others], [altered(old, {SIZE: size}), *others])
    assert result.objects[0].verdict == verdict
    assert [finding.rule for finding in result.findings] == ([] if rule is None else [rule])
    assert (result.errors > 0) == (verdict == "invalid")


@pytest.mark.parametrize(("old", "change", "word", "verdict", "why"), CASES.values(), ids=CASES)
def test_each_change_has_its_word(old, change, word, verdict, why):
    """An object is changed in place, can only be replaced, or its change is refused; the reason is said."""
    result = judge([old], [altered(old, change)])
    (judged,), (found,) = result.objects, result.changes
    assert (judged.update, judged.verdict) == (word, verdict)
    assert found.word == word
    assert (found.why is None) if why is None else (why in (found.why or ""))
    assert bool(found.fields) == bool(change)
    updates = [finding for finding in result.findings if finding.layer == "update"]
    assert all(update.fix for update in updates) or "too" in (found.why or "")
    if word == "replace" and verdict == "invalid":
        assert updates
        assert updates == [finding for finding in result.findings if finding.is_error]


def test_a_changed_parameter_of_a_class_is_named_itself():
    """The finding stands at the one that changed, whatever stands before it."""
    old = altered(objects.STORAGE_CLASS, {"parameters": {"a": "1", "b": "2"}})
    result = judge([old], [altered(old, {"parameters": {"a": "1", "b": "3"}})])
    assert [item.path for item in result.findings if item.layer == "update"] == ["parameters.b"]


def test_only_the_change_is_of_the_update_layer():
    """What is wrong by itself keeps its layer, beside what may not change."""
    result = judge([objects.JOB], [altered(objects.JOB, {"spec.parallelism": -1, IMAGE: "b"})])
    assert [(finding.layer, finding.path) for finding in result.findings] == [
        ("core", "spec.parallelism"),
        ("update", LEAF),
    ]


LOST: dict[str, tuple[str, str, dict[str, Any], bool]] = {
    "a StatefulSet that says nothing": ("apps/v1", "StatefulSet", {"volumeClaimTemplates": [{}]}, False),
    "a StatefulSet that deletes none, having none": (
        "apps/v1",
        "StatefulSet",
        {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}},
        False,
    ),
    "a LeaderWorkerSet that deletes its claims": (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {
            "leaderWorkerTemplate": {
                "volumeClaimTemplates": [{}],
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
            }
        },
        True,
    ),
    "a Volcano Job with claims of its own": (
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"volumes": [{"mountPath": "/a", "volumeClaim": {}}]},
        True,
    ),
    "a Volcano Job with claims of others": (
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"volumes": [{"mountPath": "/a", "volumeClaimName": "a"}]},
        False,
    ),
    "a class of snapshots": ("snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", {}, False),
    "a pool of storage": ("ceph.rook.io/v1", "CephBlockPool", {}, True),
    "an AppWrapper around a claim": (
        "workload.codeflare.dev/v1beta2",
        "AppWrapper",
        {
            "components": [
                {"template": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}}}
            ]
        },
        True,
    ),
    "an object of any shape": ("jobset.x-k8s.io/v1alpha2", "JobSet", {"volumeClaimPolicies": {"a": []}}, False),
}


@pytest.mark.parametrize(("api_version", "kind", "spec", "loses"), LOST.values(), ids=LOST)
def test_what_goes_with_an_object(api_version, kind, spec, loses):
    """Deleting an object loses the claims made from its templates where it says so, or its operator does."""
    (document,), _ = load(dump(named(api_version, kind, spec=spec)).encode(), file="a.yaml")
    assert (guards.lost_data(Manifest(document, document.value)) is not None) is loses


def run(name: str) -> dict[str, Any]:
    """Return a Job that carries a run."""
    labels = {"trainyard.dev/job": name.partition("-")[0], "trainyard.dev/run": name}
    return altered(objects.JOB, {"metadata": {"name": name, "labels": labels}, IMAGE: name})


NAMED: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], list[tuple[str, str]]]] = {
    "an object of another name is another object": (
        [objects.JOB],
        [altered(objects.JOB, {"metadata.name": "b"})],
        [("added", "b"), ("removed", "a")],
    ),
    "an object that the server names is always new": (
        [altered(objects.JOB, {"metadata": {"generateName": "a-"}})],
        [altered(objects.JOB, {"metadata": {"generateName": "a-"}, IMAGE: "b"})],
        [("added", "")],
    ),
    "no namespace is the default one": (
        [objects.JOB],
        [altered(objects.JOB, {"metadata.namespace": "default", "spec.parallelism": 3})],
        [("in place", "a")],
    ),
    "another namespace has other objects": (
        [objects.JOB],
        [altered(objects.JOB, {"metadata.namespace": "other"})],
        [("added", "a"), ("removed", "a")],
    ),
    "a run that follows another of its job replaces it": (
        [run("llm-aaaa")],
        [run("llm-bbbb")],
        [("replace", "llm-bbbb")],
    ),
    "a run of another job does not": (
        [run("llm-aaaa")],
        [run("net-bbbb")],
        [("added", "net-bbbb"), ("removed", "llm-aaaa")],
    ),
    "a kind that nothing serves has no word": (
        [named("example.com/v1", "Widget", spec={})],
        [named("example.com/v1", "Widget", spec={"a": 1})],
        [],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), NAMED.values(), ids=NAMED)
def test_objects_are_told_apart_by_kind_namespace_and_name(old, new, expected):
    """What is new is added, what is gone is removed, and only the same object is updated."""
    assert [(change.word, change.object.name) for change in judge(old, new).changes] == expected


def test_a_version_with_other_fields_is_not_compared():
    """A server converts the old object first; here the new one is judged alone, and the report says so."""
    old = named(
        "resource.k8s.io/v1beta1",
        "ResourceClaim",
        spec={"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.nvidia.com"}]}},
    )
    result = judge([old], [objects.DEVICE_CLAIM])
    assert [(change.word, "not compared" in change.why) for change in result.changes] == [("in place", True)]


def test_a_version_with_the_same_fields_is_compared():
    """Where the old object reads alike in the new version, what may not change is looked at."""
    old = altered(LOCAL_QUEUE, {"apiVersion": "kueue.x-k8s.io/v1beta1"})
    (found,) = judge([old], [altered(LOCAL_QUEUE, {"spec.clusterQueue": "b"})]).changes
    assert (found.word, found.fields[0]) == ("replace", "apiVersion: kueue.x-k8s.io/v1beta1 → kueue.x-k8s.io/v1beta2")


def test_removing_what_holds_data_says_so():
    """A claim that is there no more is named with what goes with it."""
    (found,) = judge([objects.CLAIM, objects.JOB], [objects.JOB]).changes[1:]
    assert (found.word, found.why) == ("removed", "deleting it loses its data")


POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-growth}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], resources: [jobs], operations: [UPDATE]}]}
  validations: [{expression: "object.spec.parallelism <= oldObject.spec.parallelism", message: no growth}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-growth}
spec: {policyName: no-growth, validationActions: [Deny]}
"""


def test_a_policy_may_refuse_an_update():
    """A policy on updates sees the old object, and what it denies is refused."""
    inputs = [("new.yaml", dump(altered(SCALED, {"spec.parallelism": 2})).encode()), ("p.yaml", POLICY.encode())]
    before = [("old.yaml", dump(SCALED).encode()), ("p.yaml", POLICY.encode())]
    result = strangers(inputs, ROOT / "schemas", kubernetes="1.35", before=before)
    assert [(item.update, item.verdict) for item in result.objects] == [
        ("refused", "invalid"),
        ("in place", "valid"),
        ("in place", "valid"),
    ]
    assert result.changes[0].why == "a policy refuses it"


def test_a_secret_is_not_shown():
    """Of a Secret only the fields are named, never what they hold."""
    new = altered(objects.SECRET, {"stringData": {"a": "hidden", "b": "hidden too"}})
    (found,) = judge([objects.SECRET], [new]).changes
    assert found.fields == ("stringData.a changed", "stringData.b changed")


def test_both_reports_say_what_becomes_of_objects(golden):
    """The text has a line an object and the reason below; the JSON is as its schema says, without what is unchanged."""
    old = [objects.JOB, objects.CLAIM, objects.ROLE, altered(objects.JOB, {"metadata.name": "b"}), objects.SECRET]
    many = {"stringData": {name: name for name in "abcdefg"}}
    new = [
        altered(objects.JOB, {IMAGE: "b"}),
        altered(objects.CLAIM, {"spec.storageClassName": "slow"}),
        copy.deepcopy(objects.ROLE),
        altered(objects.JOB, {"metadata.name": "b", "spec.parallelism": 3}),
        altered(objects.CONFIG_MAP, {"metadata.name": "new"}),
        altered(objects.SECRET, many),
    ]
    result = judge(old, [*new, altered(objects.CLAIM, {"metadata.name": "more"})])
    result.notes.clear()
    golden("golden/updates.txt", render(result))
    report = as_dict(result)
    jsonschema.validate(report, schema())
    assert [change["change"] for change in report["changes"]] == [
        "replace",
        "refused",
        "in place",
        "added",
        "in place",
        "added",
    ]


def test_a_file_is_compared_with_a_commit(tmp_path):
    """With `--against`, files and folders anywhere are compared with what their repository had."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "job.yaml").write_text(dump(objects.JOB))
    (folder / "gone.yaml").write_text(dump(objects.CONFIG_MAP))
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-q", "-m", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (folder / "job.yaml").write_text(dump(altered(objects.JOB, {IMAGE: "b"})))
    (folder / "gone.yaml").unlink()
    for path, words in ((folder, ["replace", "removed"]), (folder / "job.yaml", ["replace"])):
        done = call(ROOT, "validate", str(path), "--against", "HEAD", "-o", "json")
        report = json.loads(done.stdout)
        jsonschema.validate(report, schema())
        assert (done.returncode, [change["change"] for change in report["changes"]]) == (1, words)
        assert report["changes"][-1]["file"].startswith(str(folder))


def test_what_is_left_out_was_not_removed(tmp_path):
    """With `--against`, what `--exclude`, .gitignore or its folder leaves out now is left out of the commit, too."""
    (tmp_path / "old").mkdir()
    (tmp_path / "node_modules").mkdir()
    for name in ("a.bak.yaml", "ignored.yaml", "old/b.yaml", "node_modules/c.yaml"):
        (tmp_path / name).write_text(dump(objects.CONFIG_MAP))
    (tmp_path / "job.yaml").write_text(dump(objects.JOB))
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-q", "-m", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("ignored.yaml\n/old/\n")
    left = ("--exclude", "*.bak.yaml", "--against", "HEAD", "-o", "json")
    for paths in ([tmp_path], [tmp_path / "job.yaml", tmp_path / "a.bak.yaml"]):
        done = call(ROOT, "validate", *map(str, paths), *left)
        assert json.loads(done.stdout)["changes"] == [], done.stdout


@pytest.mark.cluster
def test_a_server_would_take_what_is_to_be_replaced():
    """Of every recorded update that a server with all operators refused, it takes the new object where we say so."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig:
        pytest.skip("whether deleting helps where an update is refused: set TRAINYARD_KUBECONFIG")
    from trainyard.faces.live.server import Server

    server = Server(kubeconfig=Path(kubeconfig))
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35")
    wrong, asked = [], 0
    for case, valid, _ in record.load_cases():
        if case.old is not None and not valid:
            before = [("old.yaml", dump(case.old).encode())]
            result = strangers([("new.yaml", case.source)], ROOT / "schemas", kubernetes="1.35", before=before)
            (found,) = [change for change in result.changes or () if change.word != "removed"]
            created = theirs(Case(case.object), known, server)
            asked += created.told
            helps = found.word == "replace" or "deleting it" in (found.why or "")
            if created.told and created.valid != helps:
                wrong.append(f"{case.object.get('kind')}: {case.note}: {found.why}: {created.reason}")
    assert asked >= 200
    assert not wrong, "\n".join(wrong)
