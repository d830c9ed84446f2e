"""Two mounts at one path are one finding, which knows the other field; with a base, the changed one has it."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight.job.volumes import check_mounts
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

CHECKPOINT = {"checkpoint": {"volume": "checkpoints", "size": "10Gi", "mountPath": "/work"}}
DATA = {"data": [{"volume": "checkpoints", "mountPath": "/work/"}]}
FOLDER = {"volumes": [{"name": "kept", "emptyDir": {}}], "mounts": [{"volume": "kept", "mountPath": "/work"}]}

TAKEN = "path '/work' is mounted twice"

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str, list[str]]]]] = {
    "data and the checkpoint": (
        {**DATA, **CHECKPOINT},
        [
            (
                "data[0].mountPath",
                f"{TAKEN}, by checkpoint and data; use another",
                ["checkpoint.mountPath"],
            )
        ],
    ),
    "a folder of the job and data": (
        {**FOLDER, **DATA},
        [("mounts[0].mountPath", f"{TAKEN}, by data and mounts; use another", ["data[0].mountPath"])],
    ),
    "paths of their own": ({**CHECKPOINT, "data": [{"volume": "checkpoints", "mountPath": "/work2"}]}, []),
}


@pytest.mark.parametrize(("job", "expected"), CASES.values(), ids=CASES)
def test_a_path_has_one_mount(job, expected):
    """The finding names the other mount and its field."""
    file = make_job_file(**job)
    specs = make_specs(file)
    found = check_mounts(OneJob(specs, file, run_of(specs, file)))
    assert [(item.path, item.message, [path for path, _ in item.shared]) for item in found] == expected
