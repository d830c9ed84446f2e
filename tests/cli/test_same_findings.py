"""Every command that reads a repository reports the same findings about it, and refuses the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, fields, write_repository

OLD = {**CLUSTER["operators"], "kueue": {"version": "0.15.4"}}
MISSPELT = {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": {"controllerManager": {"replica": 2}}}}

BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a launcher that is mistyped": ({"launcher": "torchrn"}, {}, "run/launcher"),
    "a queue that does not exist": ({"queue": "batch"}, {}, "spec/unknown-queue"),
    "more than the queue can ever have": ({"nodes": 5}, {}, "kq-max-quota"),
    "an operator that is too old": ({}, {"operators": OLD}, "pairing/too-old"),
    "a value that no chart reads": ({}, {"operators": MISSPELT}, "values/unknown"),
    "a quota of a pool that does not exist": (
        {},
        {"cohorts": {"all": {"nominalQuota": {"gpus": {"gpus": 8}}}}},
        "spec/unknown-pool",
    ),
}

NEW = ("new", "job", "nlp/more", "--cluster", "test", "--pool", "cpu", "--gpus", "0", "--program", "train.py")
COMMANDS = {
    "synth": ("synth",),
    "synth --check": ("synth", "--check"),
    "validate": ("validate",),
    "explain": ("explain", "nlp/right"),
    "new job": (*NEW, "--image", JOB["image"], "--launcher", "python"),
}


def repository(root: Path, job: dict[str, Any], cluster: dict[str, Any]) -> Path:
    """Write a repository that no cluster follows, with a job that is right beside the one with changes."""
    small = {**JOB, "nodes": 1}
    return write_repository(
        root,
        jobs={"nlp/train": fields(small, job), "nlp/right": small},
        clusters={"test": fields(CLUSTER, cluster)},
        repository={**REPOSITORY, "live": False},
    )


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("job", "cluster", "rule"), BROKEN.values(), ids=BROKEN)
def test_every_command_reports_it(tmp_path, job, cluster, rule, command):
    """Who sees no finding in one command meets none in another."""
    root = repository(tmp_path, job, cluster)
    done = call(root, *command)
    assert f"[{rule}]" in done.stdout + done.stderr
    assert done.returncode == 1
    assert not (root / "generated").exists()
    assert not (root / "jobs/nlp/more.yaml").exists()


@pytest.mark.node
def test_a_repository_that_is_right_passes_them_all(tmp_path):
    """What the cases change is all that is wrong with them."""
    root = repository(tmp_path, {}, {})
    (root / ".tools").symlink_to(ROOT / ".tools")
    for name in ("new job", "synth", "synth --check", "validate", "explain"):
        done = call(root, *COMMANDS[name])
        assert done.returncode == 0, (name, done.stdout, done.stderr)
