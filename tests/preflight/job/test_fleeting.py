"""A checkpoint saved where it ends with the pod, beside a volume that nothing names, is reported."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_repository, make_specs
from trainyard.judge.preflight.job.fleeting import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

SAVED = {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}}
TRAINS = ["--per_device_train_batch_size", "8"]
KEPT = {"volumes": [{"name": "kept", "emptyDir": {}}], "mounts": [{"volume": "kept", "mountPath": "/kept"}]}
DATA = {"data": [{"volume": "images", "mountPath": "/workspace", "readOnly": False}]}


def found(folders: dict[str, Any] | None = None, **job: Any) -> list[tuple[str, str]]:
    """Return place and message of what is said of a job."""
    file = make_job_file(**{**SAVED, **job})
    specs = make_specs(file, repository=make_repository(folders=folders or {}))
    return [(finding.path or "", finding.message) for finding in check(OneJob(specs, file, run_of(specs, file)))]


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "a folder for what need not last": (
        {"args": ["--checkpoint-dir", "/tmp/run"]},
        "args[1]",
        "--checkpoint-dir saves into '/tmp/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "scratch": (
        {"scratch": "10Gi", "args": ["--save=/scratch/run"]},
        "args[0]",
        "--save saves into '/scratch/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a name of several meanings, where the trainer is known": (
        {"args": ["--output_dir", "/tmp/run", *TRAINS]},
        "args[1]",
        "--output_dir saves into '/tmp/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a volume that ends with the pod": (
        {**KEPT, "args": ["--save", "/kept/run"]},
        "args[1]",
        "--save saves into '/kept/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "the image's working folder": (
        {"args": ["--output_dir", "./out", *TRAINS]},
        "args[1]",
        (
            "--output_dir saves into './out' in the image's working folder, which is lost with the pod; use "
            "$(CHECKPOINT_DIR)"
        ),
    ),
    "settings that the command line replaces": (
        {
            "args": ["--save", "/tmp/run", "--settings", "/etc/run/run.yaml"],
            "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
            "contents": {"a/run.yaml": "save: ${CHECKPOINT_DIR}\n"},
        },
        "args[1]",
        "--save saves into '/tmp/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "an option of the repository's own": (
        {"folders": {"saves": ["ckpt_out"]}, "args": ["--ckpt-out", "/tmp/run"]},
        "args[1]",
        "--ckpt-out saves into '/tmp/run', which is lost with the pod; use $(CHECKPOINT_DIR)",
    ),
}


@pytest.mark.parametrize(("job", "path", "message"), WRONG.values(), ids=WRONG)
def test_a_checkpoint_that_ends_with_the_pod(job, path, message):
    """The finding stands at the folder, and says what to use instead."""
    assert found(**job) == [(path, message)]


RIGHT: dict[str, dict[str, Any]] = {
    "no checkpoint is promised": {"checkpoint": None, "args": ["--save", "/tmp/run"]},
    "a name of several meanings": {"args": ["--output_dir", "/tmp/logs"]},
    "the checkpoint's folder is named, too": {"args": ["--save", "/tmp/fast", "--keep", "$(CHECKPOINT_DIR)"]},
    "its path is in a variable": {"args": ["--save", "/tmp/fast"], "env": {"KEEP": "/checkpoints/run"}},
    "its path is in a script": {
        "args": ["--save", "/tmp/fast"],
        "files": [{"source": "a/run.sh", "mountPath": "/etc/run"}],
        "contents": {"a/run.sh": "cp -r /tmp/fast /checkpoints"},
    },
    "its path is in settings of another option": {
        "args": ["--save", "/tmp/fast", "--settings", "/etc/run/run.yaml"],
        "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
        "contents": {"a/run.yaml": "save: /tmp/slow\ncopies: $CHECKPOINT_DIR/copies\n"},
    },
    "a store elsewhere": {"args": ["--save", "/tmp/fast", "--upload", "s3://bucket/run"]},
    "a variable of a store": {"args": ["--save", "/tmp/fast"], "env": {"AWS_REGION": "eu-west-1"}},
    "a number": {"args": ["--save", "5"]},
    "a folder within another": {"args": ["--checkpoint.folder", "step/one", "--training.seq_len", "8192"]},
    "a volume where programs are": {**DATA, "args": ["--output_dir", "./out", *TRAINS]},
    "a working folder that is written": {"working_dir": "/workspace", "args": ["--output_dir", "./out", *TRAINS]},
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_a_checkpoint_that_lasts_or_that_nobody_knows(job):
    """What is named as a volume's folder somewhere, or may be for something else, is left alone."""
    assert found(**job) == []
