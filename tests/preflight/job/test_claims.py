"""Claims that a job's own volumes name are its team's, or among the repository's plain objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, TEAM, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight


def claim(name: str, *, namespace: str = "nlp") -> str:
    """Return the file of a claim."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name, "namespace": namespace}
    return dump({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})


def found(root: Path, name: str, extra: dict[str, str] | None = None) -> list[str]:
    """Return what is said of a job that mounts a claim, in a repository with these files besides."""
    volumes = [{"name": "own", "persistentVolumeClaim": {"claimName": name}}]
    storage = next(iter(CLUSTER["storage"]))
    team = {**TEAM, "volumes": {**TEAM["volumes"], "corpus": {"storage": storage, "size": "1Ti"}}}
    write_repository(root, jobs={"nlp/train": {**JOB, "volumes": volumes}}, teams={"nlp": team})
    for path, text in (extra or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    findings = preflight.check_repository(root).findings
    return [f"{finding.path}: {finding.message}" for finding in findings if finding.rule == "spec/unknown-claim"]


def test_a_claim_that_nothing_makes_is_told(tmp_path):
    """At the name, with the nearest one; pods would wait for it for ever."""
    (said,) = found(tmp_path, "corpsu")
    assert said.startswith("volumes[0].persistentVolumeClaim.claimName: claim 'corpsu' is not a volume of team 'nlp'")
    assert said.endswith("did you mean 'corpus'?")


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("corpus", {}),
        ("old", {"platform/extra/test/teams/nlp/old.yaml": claim("old")}),
        ("old", {"platform/extra/test/platform/old.yaml": claim("old")}),
        ("made", {"platform/extra/test/teams/nlp/some.py": "def objects(scope):\n    pass\n"}),
    ],
    ids=["the team's volume", "the team's plain object", "the platform's", "what a program may make"],
)
def test_a_claim_that_is_known_is_none(tmp_path, name, extra):
    """Whoever makes it, and in whichever of the folders."""
    assert found(tmp_path, name, extra) == []


def test_a_claim_of_another_namespace_is_not_the_job_s(tmp_path):
    """Pods mount claims of their own namespace alone."""
    extra = {"platform/extra/test/platform/old.yaml": claim("old", namespace="vision")}
    assert len(found(tmp_path, "old", extra)) == 1


def test_a_claim_for_one_pod_is_told_to_a_job_of_several(tmp_path):
    """Claims of the repository's own are among the objects by which a job is judged."""
    once = claim("lone").replace("ReadWriteMany", "ReadWriteOncePod")
    found(tmp_path, "lone", {"platform/extra/test/teams/nlp/lone.yaml": once})
    findings = preflight.check_repository(tmp_path, home=ROOT).findings
    (said,) = [finding for finding in findings if finding.rule == "sto-one-pod"]
    assert said.path == "volumes[0].persistentVolumeClaim.claimName"
    assert "ReadWriteOncePod, but 2 pods" in said.message
