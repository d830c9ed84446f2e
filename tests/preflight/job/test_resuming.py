"""A job with a checkpoint whose program saves none, or does not go on from it, is reported at the option."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight.job.resuming import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

SAVED = {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}}
AGAIN = "each restart begins at that checkpoint again, and loses later ones; remove it"
STEPS = "but everyMinutes is 30; write a number of steps"
MEGATRON = ["--micro-batch-size", "2", "--save", "$(CHECKPOINT_DIR)"]
TOML = [{"source": "a/run.toml", "mountPath": "/etc/run"}]
SCRIPT = [{"source": "a/run.sh", "mountPath": "/etc/run"}]


def found(**job: Any) -> list[tuple[str, str, str]]:
    """Return rule, place and message of what is said of a job."""
    file = make_job_file(**{**SAVED, **job})
    specs = make_specs(file)
    return [
        (finding.rule, finding.path or "", finding.message)
        for finding in check(OneJob(specs, file, run_of(specs, file)))
    ]


WRONG: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no checkpoints at all": (
        {"args": ["--save_strategy", "no"]},
        "ckp-save-off",
        "args[1]",
        "--save_strategy no turns off saving, but the job has a checkpoint; remove it",
    ),
    "Hydra's way": (
        {"args": ["exp_manager.create_checkpoint_callback=False"]},
        "ckp-save-off",
        "args[0]",
        "exp_manager.create_checkpoint_callback False turns off saving, but the job has a checkpoint; remove it",
    ),
    "a switch": (
        {"args": ["--no-save", "--arch", "transformer"]},
        "ckp-save-off",
        "args[0]",
        "--no-save turns off saving, but the job has a checkpoint; remove it",
    ),
    "later than the last step": (
        {"args": [*MEGATRON, "--load", "$(CHECKPOINT_DIR)", "--save-interval", "5000", "--train-iters", "2000"]},
        "ckp-save-off",
        "args[7]",
        "--save-interval 5000 is more than all 2000 steps, so nothing is saved before the end; lower it",
    ),
    "in settings": (
        {
            "args": ["--job.config_file=/etc/run/run.toml"],
            "files": TOML,
            "contents": {"a/run.toml": "[checkpoint]\nenable = false"},
        },
        "ckp-save-off",
        "files[0].source",
        "checkpoint.enable false turns off saving, but the job has a checkpoint; remove it",
    ),
    "nothing is loaded": (
        {"args": MEGATRON},
        "ckp-resume-flag",
        "args[3]",
        "Megatron-LM saves, but loads nothing without --load, so each restart trains from the first step; add it",
    ),
    "nothing is loaded, in a script": (
        {
            "launcher": "exec",
            "program": None,
            "command": ["bash", "/etc/run/run.sh"],
            "files": SCRIPT,
            "contents": {"a/run.sh": "torchrun pretrain_gpt.py --micro-batch-size 2 --save $CHECKPOINT_DIR"},
        },
        "ckp-resume-flag",
        "files[0].source",
        "Megatron-LM saves, but loads nothing without --load, so each restart trains from the first step; add it",
    ),
    "what is there is deleted": (
        {"args": ["--output_dir", "$(CHECKPOINT_DIR)", "--overwrite_output_dir"]},
        "ckp-resume-flag",
        "args[2]",
        "with --overwrite_output_dir each restart trains from the first step; remove it",
    ),
    "without the optimizer, though it resumes": (
        {"args": ["--save_only_model", "True", "--resume_from_checkpoint", "/checkpoints/last"]},
        "ckp-resume-flag",
        "args[1]",
        "with --save_only_model True checkpoints lack the optimizer, so restarts cannot continue; remove it",
    ),
    "one checkpoint again and again": (
        {"args": ["--save_steps", "500", "--resume_from_checkpoint", "/checkpoints/checkpoint-500"]},
        "ckp-resume-flag",
        "args[3]",
        f"with --resume_from_checkpoint /checkpoints/checkpoint-500 {AGAIN}",
    ),
    "one step again and again, in settings": (
        {
            "args": ["--job.config_file=/etc/run/run.toml"],
            "files": TOML,
            "contents": {"a/run.toml": "[checkpoint]\nload_step = 1000"},
        },
        "ckp-resume-flag",
        "files[0].source",
        f"with checkpoint.load_step 1000 {AGAIN}",
    ),
    "a part of all steps": (
        {"args": ["--save_steps", "0.5", "--max_steps", "1000"], "maxHours": 48},
        "ckp-save-off",
        "args[1]",
        f"--save_steps 0.5 is a part of all steps, up to 24 hours of 48, {STEPS}",
    ),
    "a resume that is turned off": (
        {"args": ["exp_manager.resume_if_exists=false"]},
        "ckp-resume-flag",
        "args[0]",
        "with exp_manager.resume_if_exists false each restart trains from the first step; remove it",
    ),
}


@pytest.mark.parametrize(("job", "rule", "path", "message"), WRONG.values(), ids=WRONG)
def test_a_job_that_saves_nothing_or_begins_anew(job, rule, path, message):
    """The finding stands at the option, or at the file of the job that has it."""
    assert found(**job) == [(rule, path, message)]


RIGHT: dict[str, dict[str, Any]] = {
    "no checkpoint is promised": {"checkpoint": None, "args": ["--save_strategy", "no"]},
    "saved by steps": {"args": ["--save_strategy", "steps", "--save_steps", "500", "--max_steps", "10000"]},
    "saved by epochs": {"args": ["--save_strategy", "epoch", "--save_steps", "500", "--max_steps", "100"]},
    "no end is given": {"args": ["--save_steps", "500", "--max_steps", "-1"]},
    "Megatron-LM that loads": {"args": [*MEGATRON, "--load", "$(CHECKPOINT_DIR)"]},
    "another program that saves": {"args": ["--save", "$(CHECKPOINT_DIR)"]},
    "deleted, but for the one to go on from": {"args": ["--overwrite_output_dir", "--resume_from_checkpoint", "last"]},
    "the latest step": {"args": ["--checkpoint.load_step=-1"]},
    "the last of its own": {"args": ["--save_steps", "500", "--resume_from_checkpoint", "/checkpoints/last"]},
    "another program with a checkpoint of that name": {"args": ["--resume_from_checkpoint", "/base/checkpoint-500"]},
    "a small part of all steps": {"args": ["--save_steps", "0.01"], "maxHours": 48},
    "a part of steps that may be few": {"args": ["--save_steps", "0.5"]},
    "a switch that is off": {"args": ["--overwrite_output_dir", "False"]},
    "settings that no argument names": {"files": TOML, "contents": {"a/run.toml": "[checkpoint]\nenable = false"}},
    "settings that an argument overrides": {
        "args": ["--job.config_file=/etc/run/run.toml", "--checkpoint.enable=true"],
        "files": TOML,
        "contents": {"a/run.toml": "[checkpoint]\nenable = false"},
    },
    "a script that may run in two ways": {
        "launcher": "exec",
        "program": None,
        "command": ["bash", "/etc/run/run.sh"],
        "files": SCRIPT,
        "contents": {
            "a/run.sh": "if [ -d $CHECKPOINT_DIR ]; then L=1; fi\ntrain --micro-batch-size 2 --save /checkpoints"
        },
    },
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_a_job_that_goes_on(job):
    """What saves in time and resumes, or is not known to do otherwise, is left alone."""
    assert found(**job) == []
