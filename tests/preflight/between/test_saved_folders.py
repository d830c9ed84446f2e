"""A folder of checkpoints that is nearly a job's is found where it is read, and none that may be there."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file
from trainyard.judge.preflight.between.saved_folders import check_jobs

SAVED: dict[str, dict[str, Any]] = {
    "llama3-8b": {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}},
    "wiki-pretrain": {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}},
    "of-other": {"checkpoint": {"volume": "models", "size": "10Gi"}},
    "named": {"checkpoint": {"volume": "checkpoints", "size": "10Gi", "folder": "shared-model"}},
    "gone": {"checkpoint": {"volume": "checkpoints", "size": "10Gi"}, "retired": True},
}


def part(folder: str, **changes: Any) -> dict[str, Any]:
    """Return a job that reads a folder of the volume."""
    return {"data": [{"volume": "checkpoints", "mountPath": "/models", "subPath": folder, **changes}]}


def argument(*args: str, **changes: Any) -> dict[str, Any]:
    """Return a job that reads the whole volume, and names folders in it."""
    return {"data": [{"volume": "checkpoints", "mountPath": "/data", **changes}], "args": list(args)}


WRONG = {
    "another case": (part("llama3-8B"), "data[0].subPath", "llama3-8B", "llama3-8b"),
    "a folder in it": (part("llama3-8B/step-100"), "data[0].subPath", "llama3-8B", "llama3-8b"),
    "a letter too few": (part("wiki-pretran"), "data[0].subPath", "wiki-pretran", "wiki-pretrain"),
    "a folder by its name": (part("shared-modell"), "data[0].subPath", "shared-modell", "shared-model"),
    "two letters in an argument": (
        argument("--model", "/data/wiki-pretrained"),
        "args[1]",
        "wiki-pretrained",
        "wiki-pretrain",
    ),
    "an option with its value": (
        argument("--model=/data/Wiki-pretrain/last"),
        "args[0]",
        "Wiki-pretrain",
        "wiki-pretrain",
    ),
}

SILENT = {
    "a job's own folder": part("llama3-8b"),
    "a retired job's": part("gone"),
    "a job of another size": part("llama3-7b"),
    "somebody else's": part("tokenizers"),
    "a longer name": part("wiki-pretrain-old"),
    "near to what another volume has": part("of-othe"),
    "a folder that it may write itself": part("llama3-8B", readOnly=False),
    "an argument of its own folder": argument("/data/wiki-pretrain"),
    "the whole volume": argument("/data", "--out", "/data/"),
    "another folder": argument("/database/wiki-pretrained", "/elsewhere/wiki-pretrained"),
    "a name that a variable ends": argument("/data/wiki-pretrai$(LETTER)"),
    "an argument it may write": argument("/data/wiki-pretrained", readOnly=False),
}


def found(job: dict[str, Any]) -> list[tuple[str, str]]:
    """Return place and message of what is said of jobs that save, and one that reads."""
    files = [make_job_file(name, **fields) for name, fields in SAVED.items()]
    return [(item.path or "", item.message) for item in check_jobs([*files, make_job_file("reader", **job)])]


@pytest.mark.parametrize(("job", "path", "folder", "meant"), WRONG.values(), ids=WRONG)
def test_a_folder_that_is_nearly_a_jobs_is_found(job, path, folder, meant):
    """The warning names the folder that is meant."""
    message = f"no job saves in folder {folder!r} of volume 'checkpoints'; did you mean {meant!r}?"
    assert found(job) == [(path, message)]


@pytest.mark.parametrize("job", SILENT.values(), ids=SILENT)
def test_other_folders_are_left_alone(job):
    """A folder may be there from before, or from somebody else."""
    assert found(job) == []
