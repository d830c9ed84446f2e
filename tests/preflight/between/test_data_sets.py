"""Checkpoints in a volume that others read as data are found, where the team has another for them."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file
from trainyard.judge.preflight.between.data_sets import check_jobs


def save(volume: str) -> dict[str, Any]:
    """Return a checkpoint in a volume."""
    return {"checkpoint": {"volume": volume, "size": "10Gi"}}


CORPUS = {"data": [{"volume": "corpus", "mountPath": "/corpus"}]}
PART = {"data": [{"volume": "corpus", "mountPath": "/corpus", "subPath": "wiki"}]}
READS_MODELS = {"data": [{"volume": "models", "mountPath": "/models"}]}
SAID = "checkpoints go into volume 'corpus', which {} as data; others save into 'models'"

CASES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "its own data": (
        [{**save("corpus"), **CORPUS}, {**save("models"), **CORPUS}],
        [SAID.format("another job reads")],
    ),
    "data of many": (
        [save("corpus"), *[{**save("models"), **CORPUS}] * 3],
        [SAID.format("3 other jobs read")],
    ),
    "a volume for both": ([{**save("corpus"), **CORPUS}] * 2, []),
    "one volume for all": ([{**save("corpus"), **CORPUS}, CORPUS, CORPUS, CORPUS], []),
    "what others evaluate": ([save("models"), {**save("results"), **READS_MODELS}, READS_MODELS], []),
    "parts of a volume": ([{**save("corpus"), **PART}, *[{**save("models"), **PART}] * 3], []),
}


@pytest.mark.parametrize(("jobs", "messages"), CASES.values(), ids=CASES)
def test_checkpoints_among_data(jobs, messages):
    """Who evaluates checkpoints reads them as data, too."""
    files = [make_job_file(f"job{index}", **job) for index, job in enumerate(jobs)]
    found = list(check_jobs(files))
    assert [item.message for item in found] == messages
    assert all(item.path == "checkpoint.volume" and item.location.line for item in found)
