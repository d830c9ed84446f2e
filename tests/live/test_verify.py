"""`live verify`: our verdict on a cluster's tree beside the server's, without a change to the cluster."""

from __future__ import annotations

import builtins
import os
from pathlib import Path

import pytest

from conftest import ROOT
from make import IMAGE, write_repository
from trainyard.base.documents import dump
from trainyard.base.errors import SpecError
from trainyard.base.system.distribution import remedy
from trainyard.faces.cli import main
from trainyard.faces.live import verify
from trainyard.faces.live.server import Answer, Server
from trainyard.judge.checks.inputs import decode
from trainyard.judge.checks.repository import validate_repository
from trainyard.specs.load import read_repository
from trainyard.upstream.apiserver import Judge, catalog

TREE = b"""\
apiVersion: v1
kind: Namespace
metadata: {name: nlp}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: good, namespace: nlp}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: bad, namespace: nlp}
data: {a: 5}
---
apiVersion: example.com/v1
kind: Nothing
metadata: {name: x}
"""
YES = Answer(200, "", "")

CONTAINER = {"name": "main", "image": IMAGE, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
POD = {"restartPolicy": "Never", "containers": [CONTAINER]}
STORAGE = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
CLAIMED = {
    "namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nlp"}},
    "claim": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-train", "namespace": "nlp"},
        "spec": STORAGE,
    },
    "jobset": {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "nlp"},
        "spec": {
            "replicatedJobs": [{"name": "worker", "template": {"spec": {"template": {"spec": POD}}}}],
            "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "data"}, "spec": STORAGE}]}],
        },
    },
}
"""A tree in which a JobSet makes a claim of which the object is there."""


class Recorded:
    """A server that gives recorded answers by name, and accepts the rest; it can only be asked."""

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.asked = []

    def version(self):
        """Return a release."""
        return "1.35"

    def apply(self, value, kind, *, dry_run=True):
        """Return the recorded answer to a dry run."""
        assert dry_run
        name = value["metadata"]["name"]
        self.asked.append(name)
        return self.answers.get(name, YES)


def compare(**answers):
    """Compare the tree with a server's answers."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={})
    manifests, _ = decode("a.yaml", TREE)
    server = Recorded(answers)
    return verify.compare("atlas", manifests, Judge(known), server), server


SERVERS = {
    "a server that agrees": ({"bad": Answer(400, "BadRequest", "cannot unmarshal")}, {}),
    "a server that takes what we refuse": ({}, {"bad": ("invalid", "valid")}),
    "a server that refuses what we take": (
        {"good": Answer(422, "Invalid", "no"), "bad": Answer(400, "BadRequest", "no")},
        {"good": ("valid", "invalid")},
    ),
    "a namespace that the same tree makes": (
        {"good": Answer(404, "NotFound", 'namespaces "nlp" not found'), "bad": Answer(400, "BadRequest", "no")},
        {"good": ("valid", "silent")},
    ),
    "a webhook that does not answer": (
        {"good": Answer(500, "InternalError", "failed calling webhook x"), "bad": Answer(400, "BadRequest", "no")},
        {"good": ("valid", "silent")},
    ),
}


@pytest.mark.parametrize(("answers", "rows"), SERVERS.values(), ids=SERVERS)
def test_differences(answers, rows):
    """Only what the server says otherwise is a difference; what it cannot judge is listed apart."""
    found, server = compare(**answers)
    assert {row.ref.name: (row.ours, row.server) for row in found.rows} == {"x": ("unknown", "not asked"), **rows}
    assert len(found.differences) == sum("silent" not in row for row in rows.values())
    assert found.agreed == 3 - len(rows)
    assert server.asked == ["nlp", "good", "bad"]


def test_report_names_file_verdicts_and_reason():
    """The table has both verdicts, the file and the server's words, and says that nothing was changed."""
    text = verify.render(compare(good=Answer(422, "Invalid", "data: too odd"))[0])
    assert "valid     invalid   ConfigMap nlp/good" in text
    assert "a.yaml" in text
    assert "data: too odd" in text
    counts = "1 objects with the same verdict, 2 with another verdict, 1 without a verdict of the server"
    assert text.endswith(f"{counts}; nothing was changed\n")


def test_cluster_that_does_not_exist():
    """The near miss is named before any server is asked."""
    with pytest.raises(SpecError, match="cluster 'atlass' does not exist; did you mean 'atlas'"):
        verify.verify(ROOT, read_repository(ROOT).specs, "atlass", Recorded())


def test_without_the_client_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    """Without the extra the command stops with a sentence."""
    real = builtins.__import__

    def missing(name, *arguments, **words):
        if name == "kubernetes":
            raise ImportError(name)
        return real(name, *arguments, **words)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SystemExit) as stopped:
        main(["live", "verify", "atlas", "--context", "x", "--root", str(ROOT)])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"trainyard: the Kubernetes client is missing; {remedy('live')}\n"


def test_a_tree_is_judged_as_validate_does(tmp_path):
    """Objects of a tree count for each other in both: a JobSet has to retain a claim that exists."""
    root = write_repository(tmp_path)
    (folder := root / "generated" / "test").mkdir(parents=True)
    for name, value in CLAIMED.items():
        (folder / f"{name}.yaml").write_text(dump(value), encoding="utf-8")
    judged = validate_repository(root, home=ROOT).objects
    found = verify.verify(root, read_repository(root).specs, "test", Recorded())
    assert {item.object: item.verdict for item in judged if item.verdict != "valid"} == {
        row.ref: row.ours for row in found.rows
    }
    assert [difference.ref.kind for difference in found.differences] == ["JobSet"]


@pytest.mark.cluster
def test_a_real_cluster_agrees():
    """A real server judges the tree of one cluster as we do."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig:
        pytest.skip("live verify against a real API server: set TRAINYARD_KUBECONFIG")
    found = verify.verify(ROOT, read_repository(ROOT).specs, "kind", Server(kubeconfig=Path(kubeconfig)))
    assert found.agreed
    assert not found.differences, verify.render(found)
