"""A change that takes a volume away is reported at what still names its folder."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_source
from repo import Repo
from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.system import git as system_git
from trainyard.judge.causes.removed_mounts import removed, with_removed
from trainyard.judge.preflight.job.unmounted import UNMOUNTED

BEFORE: dict[str, Any] = {
    "cluster": "test",
    "args": ["--images", "/data/imagenet/train"],
    "data": [{"volume": "imagenet", "mountPath": "/data/imagenet"}],
}
GONE = "'/data/imagenet/train' is on no volume, because this change removes data 'imagenet'"
ADD = "add it again, or change the path"

WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "data that an argument names": ({"data": None}, [("args[1]", f"{GONE}; {ADD}")]),
    "data that a role's variable names": (
        {"data": None, "args": [], "roles": {"worker": {"env": {"IMAGES": "/data/imagenet"}}}},
        [("roles.worker.env.IMAGES", f"{GONE.replace('/train', '')}; {ADD}")],
    ),
    "data that is mounted elsewhere now": (
        {"data": [{"volume": "imagenet", "mountPath": "/images"}]},
        [
            (
                "args[1]",
                (
                    "'/data/imagenet/train' is on no volume, because this change moves data 'imagenet' to '/images'; "
                    "change the path"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), WRONG.values(), ids=WRONG)
def test_what_names_a_removed_mount_is_reported(changes, expected):
    """The finding stands at the argument or variable, and says what the change removes."""
    assert said(changes) == expected


RIGHT: dict[str, dict[str, Any]] = {
    "nothing is removed": {},
    "arguments name it no more": {"data": None, "args": ["--images", "/other"]},
    "another volume has its folder": {"data": [{"volume": "other", "mountPath": "/data/imagenet/"}]},
    "another volume holds its folder": {"data": [{"volume": "other", "mountPath": "/data"}]},
    "somebody accepted it": {"data": None, "waive": {"run/unmounted": "the image has it"}},
    "a runtime may mount it": {"data": None, "runtime": "torch"},
    "the job is retired": {"data": None, "retired": True},
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_what_is_there_or_is_not_named_is_left_alone(changes):
    """Folders that something still holds, and jobs that speak for themselves, are no finding."""
    assert said(changes) == []


def said(changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Return place and message of what is found where a job is changed."""
    value = {name: item for name, item in (BEFORE | changes).items() if item is not None}
    before, after = (make_source("jobs/nlp/a.yaml", job) for job in (BEFORE, value))
    return [(finding.path or "", finding.message) for finding in removed(after, before)]


def test_only_changed_jobs_are_compared_with_the_base(tmp_path):
    """A change is known by the files' content; its finding replaces another one at the same place."""
    repo = Repo(tmp_path)
    text = 'cluster: test\nargs: [--data_dir, "/images/train"]\nfiles: [{source: a/run.yaml, mountPath: /etc/run}]\n'
    repo.put("jobs/nlp/a/run.yaml", "root: /images/val\n")
    repo.put("jobs/nlp/a.yaml", f"{text}data: [{{volume: images, mountPath: /images}}]\n")
    repo.put("jobs/nlp/same.yaml", f"{text}data: [{{volume: images, mountPath: /images}}]\n")
    commit = repo.commit()
    repo.put("jobs/nlp/a.yaml", text)
    git = system_git.find(tmp_path)
    assert git is not None
    ids = {"jobs/nlp/a.yaml": "another", "jobs/nlp/same.yaml": repo.git("rev-parse", "HEAD:jobs/nlp/same.yaml")}
    there = Finding(UNMOUNTED.id, Severity.WARNING, "said before", Location("jobs/nlp/a.yaml", 2, 19), path="args[1]")
    found = with_removed([there], tmp_path, git, commit, ids)
    assert [(item.path, item.location.line, item.message.partition(",")[0]) for item in found] == [
        ("args[1]", 2, "'/images/train' is on no volume"),
        ("files[0].source", 3, "'/images/val' is on no volume"),
    ]
