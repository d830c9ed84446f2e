"""A job that stays offline and whose cache is empty at start cannot find a model by its name on the Hub."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight.job.offline import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

ENV = {"HF_HUB_OFFLINE": "1", "HF_HOME": "/scratch/hf"}
JOB: dict[str, Any] = {"scratch": "50Gi", "env": ENV, "args": ["--base", "meta-llama/Llama-3.1-8B"]}
FRESH = {"volumes": [{"name": "cache", "emptyDir": {}}], "mounts": [{"volume": "cache", "mountPath": "/cache"}]}
FILLED = [{"name": "fill", "image": "registry.example.com/nlp/fill@sha256:" + "3" * 64}]

WRONG = {
    "scratch": {},
    "the older switch": {"env": {"TRANSFORMERS_OFFLINE": "true", "HF_HUB_CACHE": "/scratch/hub"}},
    "an emptyDir": {**FRESH, "env": {**ENV, "HF_HOME": "/cache"}},
    "another option": {"args": ["--model_name_or_path=Qwen/Qwen2.5-7B"]},
}

SILENT = {
    "a switch that is off": {"env": {**ENV, "HF_HUB_OFFLINE": "0"}},
    "no switch": {"env": {"HF_HOME": "/scratch/hf"}},
    "the cache of the image": {"env": {"HF_HUB_OFFLINE": "1"}},
    "a cache on a volume": {
        "env": {**ENV, "HF_HOME": "/checkpoints/hf"},
        "data": [{"volume": "checkpoints", "mountPath": "/checkpoints"}],
    },
    "a volume inside scratch": {"data": [{"volume": "checkpoints", "mountPath": "/scratch/hf"}]},
    "the cache that counts is elsewhere": {"env": {**ENV, "HF_HUB_CACHE": "/opt/hub"}},
    "a container that fills it": {"initContainers": FILLED},
    "a script that may fill it": {"command": ["bash", "start.sh"], "program": None, "launcher": "exec"},
    "a folder": {"args": ["--base", "/models/llama"]},
    "a file below the working folder": {"args": ["--model", "configs/llama.yaml"]},
    "a path of another option": {"args": ["--data", "data/train"]},
}


def found(**changes: Any) -> list[tuple[str, str]]:
    """Return place and message of what is said of a job."""
    file = make_job_file(**{**JOB, **changes})
    specs = make_specs(file)
    return [(item.path or "", item.message) for item in check(OneJob(specs, file, run_of(specs, file)))]


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_an_empty_cache_and_no_network_are_found(changes):
    """The warning is at the switch."""
    ((path, message),) = found(**changes)
    assert path in {"env.HF_HUB_OFFLINE", "env.TRANSFORMERS_OFFLINE"}
    assert message.endswith("is empty at start; put HF_HOME on a volume")


@pytest.mark.parametrize("changes", SILENT.values(), ids=SILENT)
def test_a_model_that_may_be_there_is_left_alone(changes):
    """The cache may be filled before, or the model is no one of the Hub."""
    assert found(**changes) == []
