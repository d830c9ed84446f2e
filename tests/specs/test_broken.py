"""Broken specs: each case is one file, put into a small valid repository; its reviewed report stands beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import make
from broken_specs import CASES, CLUSTER, HERE, JOB, Case, put, repository
from trainyard.base.errors import SpecError
from trainyard.base.findings import Finding
from trainyard.judge.preflight import check_repository


def report(findings: list[Finding]) -> str:
    """Write findings as lines: place, rule, message."""
    return "".join(f"{finding.location} {finding.rule}\n  {finding.message}\n" for finding in findings)


def golden_name(case: Case) -> str:
    """Name of a case's report: the file's own, or with the place where it was put."""
    usual = case.at in {JOB, CLUSTER, "platform/teams/nlp.yaml", "platform/repository.yaml"}
    return f"specs/{case.file}.txt" if usual else f"specs/at-{re.sub('[^a-zA-Z0-9]+', '-', case.at)}.txt"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_broken_spec_is_reported(case, tmp_path, golden):
    """Each broken file is reported in words that a person has read, and by the rules that the case names."""
    root = repository(tmp_path)
    put(case, root)
    checked = check_repository(root)
    findings = checked.findings
    spoken = {finding.rule for finding in findings if finding.location.file == case.at or "missing" in case.rules}
    for rule in case.rules.split():
        wanted = rule if "/" in rule else f"spec/{rule}"
        assert wanted in spoken or (wanted == "decode/*" and any(rule.startswith("decode/") for rule in spoken))
    assert checked.refused == bool(case.rules)
    golden(golden_name(case), report(findings))


def test_every_case_file_is_used():
    """No broken file and no report lies about unread."""
    used = {f"{case.file}.yaml" for case in CASES.values()} | {Path(golden_name(case)).name for case in CASES.values()}
    assert {path.name for path in HERE.iterdir() if path.suffix in {".yaml", ".txt"}} == used


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_messages_keep_the_style(path):
    """A message is one sentence in lower case, without a full stop, of at most 20 words."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            message = line.strip()
            assert not message.endswith(".")
            assert len(message.split()) <= 20, message
            assert message[0] == message[0].lower()


TRICKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a job that is a link": (lambda jobs: (jobs / "link.yaml").symlink_to("train.yaml"), "spec/symbolic-link"),
    "a link out of the repository": (
        lambda jobs: (jobs / "link.yaml").symlink_to("/etc/hostname"),
        "spec/symbolic-link",
    ),
    "a folder that is a link": (lambda jobs: (jobs / "more").symlink_to(jobs.parent), "spec/symbolic-link"),
    "a team that is a link": (lambda jobs: (jobs.parent / "evil").symlink_to(jobs), "spec/symbolic-link"),
    "a pipe that would block": (lambda jobs: os.mkfifo(jobs / "pipe.yaml"), "spec/not-a-file"),
    "a huge job": (lambda jobs: (jobs / "huge.yaml").write_bytes(b"#" * (2**20 + 1)), "spec/file-size"),
    "a name of odd bytes": (
        lambda jobs: Path(os.fsdecode(bytes(jobs) + b"/\xff.yaml")).write_text("a: 1\n"),
        "spec/file-name",
    ),
    "a folder with a job's name": (lambda jobs: (jobs / "deep.yaml").mkdir(), None),
    "hidden files": (lambda jobs: (jobs / ".hidden.yaml").write_text("a: 1\n"), None),
    "notes": (lambda jobs: (jobs / "README.md").write_text("notes"), None),
    "a training program": (
        lambda jobs: make.write_repository(jobs.parent.parent, jobs={"programs/x/train": {"a": 1}}),
        None,
    ),
}


@pytest.mark.parametrize(("trick", "rule"), TRICKS.values(), ids=TRICKS)
def test_path_tricks_are_refused(trick, rule, tmp_path):
    """Links, pipes and giants below jobs/ are findings; what is no spec is left alone."""
    root = make.write_repository(tmp_path)
    trick(root / "jobs" / "nlp")
    checked = check_repository(root)
    assert [finding.rule for finding in checked.findings] == ([rule] if rule else [])
    assert checked.refused == bool(rule)
    for finding in checked.findings:
        str(finding.location).encode()


def test_all_problems_of_all_files_are_reported_together(tmp_path):
    """One run names the problems of a cluster, a team and jobs, in this order, and blames nobody for the rest."""
    root = make.write_repository(
        tmp_path,
        jobs={"nlp/a": {**make.JOB, "nodez": 3}, "nlp/b": {**make.JOB, "queue": "batch"}},
        clusters={"test": make.CLUSTER, "other": {**make.CLUSTER, "kubernetes": "1.2"}},
        teams={"nlp": {**make.TEAM, "grop": "x"}},
    )
    checked = check_repository(root)
    assert checked.refused
    assert [str(finding.location).split(":")[0] for finding in checked.findings] == [
        "platform/clusters/other.yaml",
        "platform/teams/nlp.yaml",
        "jobs/nlp/a.yaml",
        "jobs/nlp/b.yaml",
    ]


def test_no_repository_is_said_in_words(tmp_path):
    """A folder without clusters is no repository."""
    with pytest.raises(SpecError, match="has no platform/clusters"):
        check_repository(tmp_path)
