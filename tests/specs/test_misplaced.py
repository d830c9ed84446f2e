"""Specs in folders that nobody reads are told of, and files of others are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import make
from command import call
from trainyard.base.documents import dump
from trainyard.specs.load import read_repository

JOB = dump(make.JOB)

MISPLACED = {
    "jobs of one": ("job/nlp/x.yaml", "file is a job in job/; move it to jobs/nlp/"),
    "jobs in capitals": ("Jobs/nlp/x.yaml", "file is a job in Jobs/; move it to jobs/nlp/"),
    "a cluster beside its folder": (
        "platform/eu.yaml",
        "file is in platform/ itself; move it to platform/clusters/ or platform/teams/",
    ),
    "clusters of one": ("platform/cluster/eu.yaml", "file is in platform/cluster/; move it to platform/clusters/"),
    "a slip": ("platform/clutsers/eu.yaml", "file is in platform/clutsers/; move it to platform/clusters/"),
    "teams in capitals": ("platform/Teams/x.yaml", "file is in platform/Teams/; move it to platform/teams/"),
    "objects of one's own": (
        "platform/extras/eu/platform/x.yaml",
        "file is in platform/extras/; move it to platform/extra/",
    ),
    "settings by another name": (
        "platform/Repository.yaml",
        "file is named Repository.yaml, but Trainyard only reads repository.yaml; rename it",
    ),
}


def put(root: Path, path: str, text: str) -> None:
    """Write a file and its folders."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("path", "message"), MISPLACED.values(), ids=MISPLACED)
def test_a_spec_in_a_folder_that_nobody_reads_is_told_of(tmp_path, path, message):
    """What it asks for would be overlooked in silence."""
    root = make.write_repository(tmp_path)
    put(root, path, JOB)
    found = [(finding.rule, finding.location.file, finding.message) for finding in read_repository(root).findings]
    assert found == [("spec/folder", path, message)]


OTHERS = {
    "a CronJob": ("job/nlp/cron.yaml", "apiVersion: batch/v1\nkind: CronJob\n"),
    "a job in a folder of no such name": ("archive/nlp/x.yaml", JOB),
    "the sources of a program": ("platform/trainyard/specs/releases/kueue.yaml", "releases: {}\n"),
    "a hidden folder": ("platform/.teams/x.yaml", JOB),
    "a page about clusters": ("platform/cluster/README.md", "# Clusters\n"),
}


@pytest.mark.parametrize(("path", "content"), OTHERS.values(), ids=OTHERS)
def test_files_of_others_are_left_alone(tmp_path, path, content):
    """A name is a slip where it is near one of ours, and a job is one by its fields."""
    root = make.write_repository(tmp_path)
    put(root, path, content)
    assert read_repository(root).findings == []


def test_a_check_of_the_file_alone_says_it(tmp_path):
    """A hook names files one by one: a misplaced spec and a link are no manifests of somebody else."""
    root = make.write_repository(tmp_path / "here")
    put(root, "platform/team/x.yaml", "group: x\n")
    (root / "jobs/nlp/linked.yaml").symlink_to(root / "platform/team/x.yaml")
    for path, rule in (("platform/team/x.yaml", "spec/folder"), ("jobs/nlp/linked.yaml", "spec/symbolic-link")):
        done = call(root, "check", path)
        assert done.returncode == 1, done.stdout
        assert f"{path}:1:1: error: " in done.stdout
        assert f"[{rule}]" in done.stdout


def test_a_wrong_ending_is_told_of_that_file_alone(tmp_path):
    """A file that is to be a job is no small file, of which all jobs beside it may speak."""
    root = make.write_repository(tmp_path)
    put(root, "jobs/nlp/one.YAML", JOB)
    put(root, "jobs/nlp/Two.yaml", JOB)
    done = call(root, "check", "jobs/nlp/one.YAML")
    assert "[spec/file-ending]" in done.stdout
    assert "Two.yaml" not in done.stdout
