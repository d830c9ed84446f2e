"""What a server would refuse of parts that a job hands on is told before anything is written, at the job's field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, IMAGE, JOB, fields, write_repository
from trainyard.base.findings import Finding
from trainyard.judge import preflight

SIDE = {"name": "side", "image": IMAGE, "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}}}


def side(**said: Any) -> dict[str, Any]:
    """Return a job's container of its own."""
    return {"containers": [{**SIDE, **said}]}


def patch(target: str, **merge: Any) -> dict[str, Any]:
    """Return a patch of one object."""
    return {"patches": [{"object": target, "merge": merge, "reason": "a test"}]}


def found(root: Path, job: dict[str, Any], *, kind: str = "JobSet") -> list[Finding]:
    """Return the errors of a job beside what a right one has."""
    operators = {**CLUSTER["operators"], "training-operator": {"version": "1.9.4"}}
    clusters = {"test": fields(CLUSTER, {"operators": operators} if kind == "PyTorchJob" else {})}
    write_repository(root, jobs={"nlp/train": fields({**JOB, "nodes": 2, "kind": kind}, job)}, clusters=clusters)
    return [finding for finding in preflight.check_repository(root, home=ROOT).findings if finding.is_error]


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a label that is no value": ({"labels": {"stage": "not this!"}}, "meta/labels", "labels.stage"),
    "an annotation that is no key": ({"annotations": {"a/b/c": "x"}}, "meta/annotations", 'annotations["a/b/c"]'),
    "a misspelt field of a probe": (
        side(livenessProbe={"httpGet": {"path": "/", "prot": 80}}),
        "schema/unknown-field",
        "containers[0].livenessProbe.httpGet.prot",
    ),
    "a name that no container has": (side(name="Side_Car"), "core/container", "containers[0].name"),
    "a policy that there is not": (
        side(imagePullPolicy="Sometimes"),
        "core/container",
        "containers[0].imagePullPolicy",
    ),
    "a mount without a volume": (
        side(volumeMounts=[{"name": "nowhere", "mountPath": "/x"}]),
        "core/volume-mount",
        "containers[0].volumeMounts[0].name",
    ),
    "a volume of two sources": (
        {"volumes": [{"name": "two", "configMap": {"name": "kube-root-ca.crt"}, "emptyDir": {}}]},
        "core/volume",
        "volumes[0].emptyDir",
    ),
    "a folder of the node, where pods are restricted": (
        {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]},
        "pod-security/restricted-volumes",
        "volumes[0].hostPath",
    ),
    "the processes of the node, by a patch": (
        patch("Pod", spec={"hostPID": True}),
        "pod-security/host-namespaces",
        "patches[0].merge.spec.hostPID",
    ),
    "a misspelt field in a patch": (
        patch("JobSet", spec={"sucessPolicy": {"operator": "All"}}),
        "schema/unknown-field",
        "patches[0].merge.spec.sucessPolicy",
    ),
    "a value in a patch of pods": (
        patch("Pod", spec={"dnsPolicy": "Somehow"}),
        "core/pod-dns",
        "patches[0].merge.spec.dnsPolicy",
    ),
}


@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob"])
@pytest.mark.parametrize("case", CASES)
def test_what_a_server_refuses_is_at_the_jobs_own_field(tmp_path: Path, case: str, kind: str) -> None:
    """One error, at the field that somebody wrote; pods are asked about that a controller would make later."""
    job, rule, path = CASES[case]
    if kind == "PyTorchJob" and "JobSet" in str(job):
        pytest.skip("a patch of an object that is not there")
    (error,) = found(tmp_path, job, kind=kind)
    rules = {rule, "webhook/pytorchjob-pods"} if kind == "PyTorchJob" else {rule}
    assert error.rule in rules
    assert (error.path, error.location.file) == (path, "jobs/nlp/train.yaml")
    assert error.location.line


def test_a_misspelt_field_is_told_at_its_key(tmp_path: Path) -> None:
    """The key is what is wrong, and its column is told; of a value the value's."""
    (error,) = found(tmp_path, side(livenessProbe={"httpGet": {"path": "/", "prot": 80}}))
    line = (tmp_path / "jobs/nlp/train.yaml").read_text().splitlines()[(error.location.line or 1) - 1]
    assert line[(error.location.column or 1) - 1 :].startswith("prot")


RIGHT: dict[str, dict[str, Any]] = {
    "a container with a volume of its own": {
        **side(volumeMounts=[{"name": "tmp", "mountPath": "/x"}]),
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}],
    },
    "labels and annotations": {"labels": {"stage": "one"}, "annotations": {"example.com/a": "any text: {}"}},
    "a patch of pods": patch("Pod", spec={"dnsPolicy": "Default"}),
}


@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob"])
@pytest.mark.parametrize("case", RIGHT)
def test_parts_that_are_right_pass(tmp_path: Path, case: str, kind: str) -> None:
    """What a controller adds later is not missed."""
    assert found(tmp_path, RIGHT[case], kind=kind) == []
