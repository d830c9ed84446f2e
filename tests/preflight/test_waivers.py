"""Waivers: what is accepted, where it is written, and what is said of those that hide nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import page
from clock import within
from command import call
from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, UNLISTED, write_repository
from trainyard.base.documents import dump
from trainyard.base.findings import Finding
from trainyard.judge import preflight
from trainyard.judge.checks.repository import validate_repository
from trainyard.judge.preflight.waivers import Waivers

SMALL = {**JOB, "nodes": 1}
NEAR = {**CLUSTER["operators"], "kueue": UNLISTED}


def said(root: Path) -> list[str]:
    """Return what is found in the specs, each as weight, rule and message."""
    return [shown(finding) for finding in preflight.check_repository(root).findings]


def shown(finding: Finding) -> str:
    """Return a finding in a line."""
    return f"{finding.severity}: {finding.message} [{finding.rule}]"


def test_a_warning_on_a_cluster_is_waived_in_its_file(tmp_path: Path) -> None:
    """The rule's id is what stands in brackets; with the reason it says nothing any more."""
    root = write_repository(tmp_path, clusters={"test": {**CLUSTER, "operators": NEAR}})
    found = preflight.check_repository(root).findings
    assert [(str(item.severity), item.rule) for item in found] == [("warning", "pairing/unlisted-release")]
    waive = {"pairing/unlisted-release": "somebody looked"}
    write_repository(root, clusters={"test": {**CLUSTER, "operators": NEAR, "waive": waive}})
    assert said(root) == []


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "a rule that does not exist": (
        {"pairing/unlisted-releases": "x"},
        "error: rule 'pairing/unlisted-releases' does not exist; did you mean 'pairing/unlisted-release'? [spec/waive]",
    ),
    "a rule of errors": (
        {"spec/unknown-queue": "x"},
        "error: rule 'spec/unknown-queue' is an error, which cannot be waived; ",
    ),
    "a rule that finds nothing": (
        {"pairing/unlisted-release": "x"},
        "warning: rule 'pairing/unlisted-release' is waived but has no finding here; remove the waiver [spec/waive]",
    ),
}


@pytest.mark.parametrize(("waive", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("place", ["jobs", "clusters", "teams", "repository"])
def test_a_waiver_that_hides_nothing_is_a_finding(tmp_path: Path, place: str, waive, message: str) -> None:
    """Whichever file it is in, it is told what is wrong with it."""
    from make import TEAM

    base: dict[str, Any] = {"jobs": SMALL, "clusters": CLUSTER, "teams": TEAM, "repository": REPOSITORY}
    names = {"jobs": "nlp/train", "clusters": "test", "teams": "nlp"}
    changed = {**base[place], "waive": waive}
    root = write_repository(tmp_path, **{place: {names[place]: changed} if place in names else changed})
    found = said(root)
    assert len(found) == 1
    assert found[0].startswith(message)


def test_a_job_waives_for_itself_alone(tmp_path: Path) -> None:
    """The warning on another job stays."""
    python = {**SMALL, "launcher": "python", "nodes": 1, "gpusPerNode": 8}
    root = write_repository(tmp_path, jobs={"nlp/one": python, "nlp/two": python})
    found = preflight.check_repository(root).findings
    rules = {item.rule for item in found}
    assert len(rules) == 1
    assert all(not item.is_error for item in found)
    waive = dict.fromkeys(rules, "one process drives all")
    write_repository(root, jobs={"nlp/one": {**python, "waive": waive}, "nlp/two": python})
    assert {finding.location.file for finding in preflight.check_repository(root).findings} == {"jobs/nlp/two.yaml"}


def object_of(job: str, **labels: str) -> str:
    """Return a Job of a run whose queue does not exist."""
    labels = {"trainyard.dev/job": job, "kueue.x-k8s.io/queue-name": "nowhere", **labels}
    metadata = {"name": f"{job}-abcdefgh", "namespace": "nlp", "labels": labels}
    container = {"name": "trainer", "image": JOB["image"]}
    spec = {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return dump({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})


def tree(root: Path, waive: dict[str, str]) -> Path:
    """Write a repository with the objects of two runs whose queue does not exist; one job has waivers."""
    write_repository(root, jobs={"nlp/one": {**SMALL, "waive": waive}, "nlp/two": SMALL})
    (root / ".tools").symlink_to(ROOT / ".tools")
    for job in ("one", "two"):
        folder = root / f"generated/test/runs/nlp/{job}-abcdefgh"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"job.{job}-abcdefgh.yaml").write_text(object_of(job), encoding="utf-8")
    return root


def test_a_policy_is_waived_for_the_job_s_own_objects(tmp_path: Path) -> None:
    """A policy's error may be waived; the objects of other jobs keep it."""
    without = validate_repository(tree(tmp_path / "without", {}))
    assert [finding.location.file.split("/")[4] for finding in without.findings if finding.rule == "kq-lq-exists"] == [
        "one-abcdefgh",
        "two-abcdefgh",
    ]
    result = validate_repository(tree(tmp_path / "with", {"kq-lq-exists": "made by hand"}))
    assert [finding.location.file.split("/")[4] for finding in result.findings if finding.rule == "kq-lq-exists"] == [
        "two-abcdefgh"
    ]
    assert not [finding for finding in result.findings if finding.rule == "spec/waive"]


def test_a_policy_s_waiver_that_nothing_needs_is_told_where_objects_are_looked_at(tmp_path: Path) -> None:
    """`synth`, which runs no policy, does not complain of it."""
    root = tree(tmp_path, {"gpu-limits": "half a GPU is all we have"})
    assert said(root) == []
    result = validate_repository(root)
    assert [shown(finding) for finding in result.findings if finding.rule == "spec/waive"] == [
        "warning: rule 'gpu-limits' is waived but has no finding here; remove the waiver [spec/waive]"
    ]


@pytest.mark.parametrize(("file", "rule"), {"jobs": "tor-no-launcher", "platform": "pairing/unlisted-release"}.items())
def test_the_waivers_that_the_pages_show_are_needed_and_do(tmp_path: Path, file: str, rule: str) -> None:
    """Without its waiver the job, or the cluster, of the page has one warning, of the rule that it names."""
    shown = page.files("jobs.md")["jobs/nlp/one-process.yaml"]
    settings = [text for text in page.blocks("clusters.md", "yaml") if text.startswith("# in platform/clusters/")]
    (changes,) = [text for text in settings if "waive:" in text]
    job, cluster = yaml.safe_load(shown), {**CLUSTER, **yaml.safe_load(changes)}
    job = {**job, "cluster": "test", "pool": "gpu"}
    root = write_repository(tmp_path, clusters={"test": cluster}, jobs={"nlp/one": job})
    assert said(root) == []
    (job if file == "jobs" else cluster).pop("waive")
    write_repository(root, clusters={"test": cluster}, jobs={"nlp/one": job})
    (finding,) = preflight.check_repository(root).findings
    assert (finding.rule, str(finding.severity)) == (rule, "warning")
    assert finding.location.file.startswith(file)


@pytest.mark.node
@pytest.mark.slow
def test_the_repository_waives_what_is_about_no_other_file(tmp_path: Path) -> None:
    """What is said of the tree as a whole is accepted by the waiver that the page shows."""
    (text,) = [text for text in page.blocks("clusters.md", "yaml") if text.startswith("# in platform/repository.yaml")]
    root = write_repository(tmp_path, jobs={})
    assert "[run/unproven]" in call(root, "synth").stderr
    write_repository(root, jobs={}, repository={**REPOSITORY, **yaml.safe_load(text)})
    assert call(root, "synth", "--check").stderr == ""


def test_a_policy_that_is_switched_off_exists(tmp_path: Path) -> None:
    """Those of Trainyard and those of the repository; a mistyped one would stay on."""
    policies = {"sec-dgest": "no registry yet", "kq-lq-exists": "one team", "own-policy": "later"}
    root = write_repository(tmp_path, repository={**REPOSITORY, "policies": policies})
    (root / "policies").mkdir()
    (root / "policies/own_policy.py").write_text('"""T.\n\nWhy: w.\nFix: f.\nSource: s.\n"""\ncheck = list')
    assert said(root) == ["error: policy 'sec-dgest' does not exist; did you mean 'sec-digest'? [spec/unknown-policy]"]


def test_rules_that_do_not_exist_are_looked_for_in_no_time() -> None:
    """The sources and the policies are walked once, however many ids are asked about."""
    ids = [f"no-such-rule-{number}" for number in range(300)]

    def unknown() -> list[str]:
        waivers = Waivers(root=ROOT)
        return [id_ for id_ in ids if waivers.rule(id_) is None]

    assert within(2, unknown) == ids


@pytest.mark.parametrize(("fabric", "told"), [({"type": "rocee"}, 0), (None, 1)])
def test_a_waiver_of_a_job_is_not_called_unneeded_while_its_cluster_is_broken(tmp_path: Path, fabric, told) -> None:
    """Nobody knows what the job would need; with a cluster that can be read the same waiver is a finding."""
    cluster = {**CLUSTER, **({"fabric": fabric} if fabric else {})}
    jobs = {"nlp/one": {**SMALL, "waive": {"kq-start-elastic": "it may begin with fewer"}}}
    write_repository(tmp_path, jobs=jobs, clusters={"test": cluster})
    found = preflight.check_repository(tmp_path, home=ROOT).findings
    assert len([item for item in found if item.rule == "spec/waive"]) == told
