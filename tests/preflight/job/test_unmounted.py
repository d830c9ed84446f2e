"""A folder for checkpoints, outputs or data that no volume holds is reported at the argument or variable."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_repository, make_specs
from trainyard.judge.preflight.job.unmounted import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob
from trainyard.upstream.trainers import reading, saving, trainers

SAVED = {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}}
DATA = {"data": [{"volume": "checkpoints", "mountPath": "/data"}]}


def found(folders: dict[str, Any] | None = None, **job: Any) -> list[tuple[str, str]]:
    """Return place and message of what is said of a job."""
    file = make_job_file(**job)
    specs = make_specs(file, repository=make_repository(folders=folders or {}))
    return [(finding.path or "", finding.message) for finding in check(OneJob(specs, file, run_of(specs, file)))]


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "a folder beside the checkpoints": (
        {**SAVED, "args": ["--checkpoint-dir", "/ckpt"]},
        "args[1]",
        "--checkpoint-dir saves into '/ckpt', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a name that only begins like the mount": (
        {**SAVED, "args": ["--save=/checkpoints2/run"]},
        "args[0]",
        "--save saves into '/checkpoints2/run', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a way up out of the mount": (
        {**SAVED, "args": ["--save", "/checkpoints/../out"]},
        "args[1]",
        "--save saves into '/out', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "the image's folder, and no checkpoint": (
        {"args": ["--output_dir=/workspace/out"]},
        "args[0]",
        (
            "--output_dir saves into '/workspace/out', which is on no volume and lost with the pod; add checkpoint, "
            "and use $(CHECKPOINT_DIR)"
        ),
    ),
    "Hydra's way": (
        {**SAVED, "args": ["++exp_manager.exp_dir=/results"]},
        "args[0]",
        (
            "++exp_manager.exp_dir saves into '/results', which is on no volume and lost with the pod; use "
            "$(CHECKPOINT_DIR)"
        ),
    ),
    "a variable": (
        {**SAVED, "env": {"OUTPUT_DIR": "/results"}},
        "env.OUTPUT_DIR",
        "OUTPUT_DIR saves into '/results', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "data": (
        {**SAVED, "args": ["--data_dir", "/data/coco2017"]},
        "args[1]",
        "--data_dir reads '/data/coco2017', which is on no volume of the job; mount it under data",
    ),
    "the second of several data sets": (
        {**DATA, "args": ["--data-path", "30", "/data/a", "70", "/corpus/b"]},
        "args[4]",
        "--data-path reads '/corpus/b', which is on no volume of the job; mount it under data",
    ),
    "data that is mounted read-only": (
        {**DATA, "args": ["--save", "/data/run"]},
        "args[1]",
        "--save saves into '/data/run', which is mounted read-only; set readOnly: false, or use another folder",
    ),
    "an option of the repository's own": (
        {**SAVED, "folders": {"saves": ["keep_in"]}, "args": ["--keep-in", "/kept"]},
        "args[1]",
        "--keep-in saves into '/kept', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a variable of the repository's own": (
        {**SAVED, "folders": {"saves": ["keep_in"]}, "env": {"KEEP_IN": "/kept"}},
        "env.KEEP_IN",
        "KEEP_IN saves into '/kept', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a setting of the repository's own, in a file": (
        {
            **SAVED,
            "folders": {"saves": ["trainer.keep_in"]},
            "args": ["--config", "/etc/run/run.yaml"],
            "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
            "contents": {"a/run.yaml": "trainer: {keep_in: /kept}\n"},
        },
        "files[0].source",
        "trainer.keep_in saves into '/kept', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "data of the repository's own": (
        {**SAVED, "folders": {"reads": ["shards"]}, "args": ["--shards", "/corpus/a"]},
        "args[1]",
        "--shards reads '/corpus/a', which is on no volume of the job; mount it under data",
    ),
    "a folder below the working folder": (
        {**SAVED, "working_dir": "/workspace", "args": ["--output_dir", "out"]},
        "args[1]",
        "--output_dir saves into '/workspace/out', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "settings that the job brings": (
        {
            **SAVED,
            "args": ["--config", "/etc/run/run.yaml"],
            "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
            "contents": {"a/run.yaml": "output_dir: /results\n"},
        },
        "files[0].source",
        "output_dir saves into '/results', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "a script": (
        {
            **SAVED,
            "launcher": "exec",
            "program": None,
            "command": ["bash", "-c", "torchrun train.py --save /ckpt --bf16"],
        },
        "command[2]",
        "--save saves into '/ckpt', which is on no volume and lost with the pod; use $(CHECKPOINT_DIR)",
    ),
    "settings in a folder that has nearly the name of the mounted one": (
        {"args": ["--config", "/etc/lm/run.yaml"], "files": [{"source": "a/run.yaml", "mountPath": "/etc/llm"}]},
        "args[1]",
        "'/etc/lm/run.yaml' is on no volume of the job; did you mean '/etc/llm'?",
    ),
    "an option that nobody lists, with two letters swapped": (
        {**DATA, "args": ["--shards=/daat/$(JOB_NAME)/a"]},
        "args[0]",
        "'/daat' is on no volume of the job; did you mean '/data'?",
    ),
    "a folder in a script": (
        {**DATA, "launcher": "exec", "program": None, "command": ["bash", "-c", "train --from /date/a"]},
        "command[2]",
        "'/date/a' is on no volume of the job; did you mean '/data'?",
    ),
    "a letter too few where it saves": (
        {**SAVED, "args": ["--save", "/chckpoints"]},
        "args[1]",
        "--save saves into '/chckpoints', which is on no volume and lost with the pod; did you mean '/checkpoints'?",
    ),
    "a file of settings that names such a folder": (
        {
            **DATA,
            "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
            "contents": {"a/run.yaml": "corpus: /datta/tokens\n"},
        },
        "files[0].source",
        "'/datta/tokens' is on no volume of the job; did you mean '/data'?",
    ),
}


@pytest.mark.parametrize(("job", "path", "message"), WRONG.values(), ids=WRONG)
def test_a_folder_that_no_volume_holds(job, path, message):
    """The finding stands at the argument or the variable, and says what to use instead."""
    assert found(**job) == [(path, message)]


RIGHT: dict[str, dict[str, Any]] = {
    "below the mount": {**SAVED, "args": ["--save", "/checkpoints/run"]},
    "the mount itself, with a slash": {**SAVED, "args": ["--save", "/checkpoints/"]},
    "the job's variable": {**SAVED, "args": ["--save", "$(CHECKPOINT_DIR)/run"]},
    "scratch": {"scratch": "10Gi", "args": ["--output_dir", "/scratch/out"]},
    "a folder for what need not last": {"args": ["--output_dir", "/tmp/out"]},
    "a folder of the image that is read": {"args": ["--data_dir", "/workspace/data"]},
    "a folder below the image's working folder": {"args": ["--output_dir", "out"]},
    "a folder that another rule looks at": {"args": ["--output_dir", "/scratch/out"]},
    "a word that is no folder": {**SAVED, "working_dir": "/workspace", "args": ["--output", "json"]},
    "a folder below a working folder that is mounted": {
        **SAVED,
        "working_dir": "/checkpoints",
        "args": ["--output_dir", "./out"],
    },
    "settings that an argument overrides": {
        **SAVED,
        "args": ["--config", "/etc/run/run.yaml", "--output-dir", "/checkpoints"],
        "files": [{"source": "a/run.yaml", "mountPath": "/etc/run"}],
        "contents": {"a/run.yaml": "output_dir: /results\n"},
    },
    "an address": {"args": ["--output_dir", "s3://bucket/run"]},
    "a name of the hub": {"args": ["--load", "meta-llama/Llama-3-8B"]},
    "an option that names something else": {"args": ["--prefix", "/v1/models"]},
    "a switch before a folder": {"args": ["--overwrite_output_dir", "/anything"]},
    "an option of one's own that nobody lists": {"args": ["--keep-in", "/kept"]},
    "a script that copies": {
        "launcher": "exec",
        "program": None,
        "command": ["bash", "-c", "train --save /out && rsync -a /out /checkpoints"],
    },
    "a patch that mounts": {
        "args": ["--save", "/out"],
        "patches": [{"object": "JobSet", "merge": {"spec": {"volumeMounts": []}}, "reason": "a volume of our own"}],
    },
    "the number of another disk": {
        "data": [{"volume": "checkpoints", "mountPath": "/mnt/nvme0"}],
        "args": ["--cache", "/mnt/nvme1/a", "--more", "/mnt/nvme"],
    },
    "a folder of images": {
        "data": [{"volume": "checkpoints", "mountPath": "/apps"}],
        "args": ["--tokenizer", "/app/tokenizer", "--root=/opt/data"],
    },
    "a folder of another name": {**DATA, "args": ["--cache", "/models/a", "--other", "/dat4base"]},
    "an address with such a folder": {**DATA, "args": ["--from", "https://host/date/a"]},
    "data that it may write": {
        "data": [{"volume": "checkpoints", "mountPath": "/data", "readOnly": False}],
        "args": ["--save", "/data/run"],
    },
    "a writable mount in a read-only one": {
        "data": [
            {"volume": "checkpoints", "mountPath": "/data"},
            {"volume": "checkpoints", "mountPath": "/data/out", "readOnly": False},
        ],
        "args": ["--save", "/data/out"],
    },
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_a_folder_that_is_there_or_that_nobody_knows(job):
    """What is mounted, in the image, or not known to be a folder is left alone."""
    assert found(**job) == []


def test_every_trainer_says_its_source():
    """The options are data, each with the file that has it, and none both saves and reads."""
    assert all(trainer.source and (trainer.saves or trainer.reads) for trainer in trainers())
    assert {"output_dir", "save", "exp_manager.exp_dir"} <= saving()
    assert not saving() & reading()
    assert all("-" not in option for option in saving() | reading())
