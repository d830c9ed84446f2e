"""What no run may be is told at the job's own field or patch, and at the line of a file that somebody edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, TEAM, fields, write_repository
from tenant_crossings import ELSEWHERE, SIDE
from trainyard.base.documents import load
from trainyard.base.findings import Finding
from trainyard.base.manifests import Manifest
from trainyard.judge import preflight
from trainyard.judge.checks import tenants


def patch(target: str, **merge: Any) -> dict[str, Any]:
    """Return a patch of one object."""
    return {"patches": [{"object": target, "merge": merge, "reason": "a test"}]}


def errors(root: Path, job: dict[str, Any], **more: Any) -> list[Finding]:
    """Return what is wrong with a repository of one job."""
    write_repository(root, jobs={"nlp/train": fields(JOB, job)}, **more)
    return [finding for finding in preflight.check_repository(root, home=ROOT).findings if finding.is_error]


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a volume of the network, by a patch": (
        patch("Pod", spec={"volumes": [{"name": "v", "csi": {"driver": "nfs.csi.k8s.io"}}]}),
        "run/tenant-volume",
        "patches[0].merge.spec.volumes[0].csi",
    ),
    "affinity against others, by a patch": (
        patch(
            "Pod",
            spec={
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "kubernetes.io/os", "namespaces": ["ads"], "labelSelector": {}}
                        ]
                    }
                }
            },
        ),
        "run/tenant-affinity",
        "patches[0].merge.spec.affinity",
    ),
    "a runtime, by a patch": (
        patch("Pod", spec={"runtimeClassName": "nvidia"}),
        "run/tenant-device",
        "patches[0].merge.spec.runtimeClassName",
    ),
    "an option of Argo CD's, by a patch": (
        patch("JobSet", metadata={"annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}}),
        "run/tenant-label",
        "patches[0].merge.metadata.annotations",
    ),
    "another manager, by a patch": (
        patch("JobSet", spec={"managedBy": "kueue.x-k8s.io/multikueue"}),
        "run/tenant-controller",
        "patches[0].merge.spec.managedBy",
    ),
    "an image of another registry, by a patch": (
        patch("Pod", spec={"containers": [{"name": "trainer", "image": ELSEWHERE}]}),
        "run/tenant-image",
        "patches[0].merge.spec.containers[0].image",
    ),
    "a Secret that is not listed, by a patch": (
        patch("Pod", spec={"volumes": [{"name": "v", "secret": {"secretName": "other"}}]}),
        "run/tenant-secret",
        "patches[0].merge.spec.volumes[0].secret.secretName",
    ),
    "an annotation of Helm's": (
        {"annotations": {"helm.sh/hook-weight": "1"}},
        "run/tenant-label",
        'annotations["helm.sh/hook-weight"]',
    ),
    "a volume of the network": (
        {"volumes": [{"name": "v", "csi": {"driver": "nfs.csi.k8s.io"}}]},
        "run/tenant-volume",
        "volumes[0].csi",
    ),
    "31 years to end": ({"graceSeconds": 1_000_000_000}, "run/tenant-grace", "graceSeconds"),
    "a checkpoint that takes hours": (
        {"checkpoint": {"volume": "checkpoints", "everyMinutes": 600, "size": "200Gi"}},
        "run/tenant-grace",
        "checkpoint.size",
    ),
    "a token of no account in particular": (
        {"mounts": [{"token": {"audience": "vault"}, "mountPath": "/t"}]},
        "run/tenant-account",
        "mounts[0].token",
    ),
    "GPUs for a sidecar by a variable": (
        {"containers": [{**SIDE, "env": [{"name": "AMD_VISIBLE_DEVICES", "value": "all"}]}]},
        "run/tenant-device",
        "containers[0].env[0].value",
    ),
    "an image by tag": (
        {"containers": [{**SIDE, "image": "registry.example.com/x:1"}]},
        "sec-digest",
        "containers[0].image",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_no_run_may_be_is_told_where_it_is_asked_for(tmp_path: Path, case: str) -> None:
    """One error of its rule, at the line that somebody wrote, which no waiver takes away."""
    job, rule, path = CASES[case]
    found = errors(tmp_path, {**job, "waive": {rule: "a test"}})
    assert [(item.rule, item.location.file) for item in found if item.rule == rule] == [(rule, "jobs/nlp/train.yaml")]
    (error,) = [item for item in found if item.rule == rule]
    assert (error.path or "").startswith(path)
    assert error.location.line
    assert error.remedy
    assert [item.rule for item in found if item.rule != rule] == ["spec/waive"]


LONGEST = {
    "set longestGraceSeconds in platform/clusters/test.yaml": {},
    "raise longestGraceSeconds at platform/clusters/test.yaml:": {"longestGraceSeconds": 60},
}


@pytest.mark.parametrize(("fix", "cluster"), LONGEST.items())
def test_the_line_of_the_cluster_is_named_that_bounds_how_long_runs_end(
    tmp_path: Path, fix: str, cluster: dict[str, Any]
) -> None:
    """Where its file says nothing, the file."""
    job = {"graceSeconds": 7200, "maxHours": 9}
    (error,) = errors(tmp_path, job, clusters={"test": {**CLUSTER, **cluster}})
    assert (error.rule, error.location.line) == ("run/tenant-grace", 10)
    assert (error.fix or "").startswith(fix)


def test_what_is_switched_off_or_waived_for_a_team_changes_nothing(tmp_path: Path) -> None:
    """The statement is no policy that a repository switches off: its rules have no names of policies."""
    job, rule, _ = CASES["a runtime, by a patch"]
    found = errors(tmp_path, job, repository={**REPOSITORY, "policies": {rule: "a test"}})
    assert {item.rule for item in found} == {rule, "spec/form"}


ALLOWING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a group of labels": (
        {"annotations": {"example.org/a": "x"}},
        {"repository": {**REPOSITORY, "labels": ["example.org"]}},
    ),
    "a single key": (
        {"labels": {"grafana_dashboard": "1"}},
        {"repository": {**REPOSITORY, "labels": ["grafana_dashboard"]}},
    ),
    "a runtime class": (
        patch("Pod", spec={"runtimeClassName": "gvisor"}),
        {"clusters": {"test": {**CLUSTER, "runtimeClasses": ["gvisor"]}}},
    ),
    "two hours to end": (
        {"graceSeconds": 7200},
        {"clusters": {"test": {**CLUSTER, "longestGraceSeconds": 7200}}},
    ),
    "a Secret": (
        {"volumes": [{"name": "v", "secret": {"secretName": "other"}}]},
        {"teams": {"nlp": {**TEAM, "secrets": ["tokens", "other"]}}},
    ),
}


@pytest.mark.parametrize("case", ALLOWING)
def test_the_platform_may_allow_more(tmp_path: Path, case: str) -> None:
    """Without the setting it is an error, with it none."""
    job, settings = ALLOWING[case]
    assert errors(tmp_path / "without", job)
    assert errors(tmp_path / "with", job, **settings) == []


def manifest(path: str, text: str) -> Manifest:
    """Return the object of a file in the tree."""
    documents, _ = load(text.encode(), file=path)
    return Manifest(documents[0], documents[0].value)


HAND = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train-abcdefgh, namespace: nlp, labels: {trainyard.dev/team: nlp, trainyard.dev/run: train-abcdefgh}}
spec:
  template:
    spec:
      hostPID: true
      containers: []
"""


def test_files_that_somebody_edited_are_held_to_the_same(tmp_path: Path) -> None:
    """Each breach is at its line of the file, in the folder of a run and beside the runs."""
    write_repository(tmp_path)
    specs = preflight.check_repository(tmp_path, home=ROOT).specs
    inside = manifest("generated/test/runs/nlp/train-abcdefgh/job.train-abcdefgh.yaml", HAND)
    found = list(tenants.check(specs, "test", [inside]))
    assert ("run/tenant-host", 7) in {(item.rule, item.location.line) for item in found}
    assert "run/tenant-label" in {item.rule for item in found}
    loose = manifest("generated/test/runs/nlp/job.train-abcdefgh.yaml", HAND)
    assert "run/tenant-object" not in {item.rule for item in found}
    assert list(tenants.check(specs, "test", [loose]))
    elsewhere = manifest("generated/test/teams/nlp/job.train-abcdefgh.yaml", HAND)
    assert list(tenants.check(specs, "test", [elsewhere])) == []


@pytest.mark.parametrize(
    "name", ["argocd", "gpu-operator", "cert-manager", "ray-operator", "openshift-dns", "mpi-operator"]
)
def test_no_team_is_called_as_a_namespace_of_the_platform(tmp_path: Path, name: str) -> None:
    """Argo CD's and operators', whether the cluster has them today or not."""
    queues = {"research": {**CLUSTER["queues"]["research"], "teams": [name]}}
    found = errors(
        tmp_path, {"pool": "gpu"}, clusters={"test": {**CLUSTER, "queues": queues}}, teams={name: TEAM, "nlp": TEAM}
    )
    assert "spec/team-namespace" in {item.rule for item in found}


def test_no_team_is_privileged_where_no_fabric_asks_for_it(tmp_path: Path) -> None:
    """The error is at the level of the cluster; without GPUDirect and the node's network there is no need."""
    found = errors(
        tmp_path, {}, teams={"nlp": {**TEAM, "podSecurity": {"default": "restricted", "test": "privileged"}}}
    )
    assert [(item.rule, item.path) for item in found] == [("spec/privileged-needless", "podSecurity.test")]
