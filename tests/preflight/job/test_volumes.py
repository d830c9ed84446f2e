"""Of two mounts at one path the one that is written later in the file is wrong."""

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

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "data behind the checkpoint": (
        {**CHECKPOINT, **DATA},
        [("data[0].mountPath", "path '/work' is already mounted, by checkpoint; use another")],
    ),
    "the checkpoint behind data": (
        {**DATA, **CHECKPOINT},
        [("checkpoint.mountPath", "path '/work' is already mounted, by data; use another")],
    ),
    "data behind a folder of its own": (
        {**FOLDER, **DATA},
        [("data[0].mountPath", "path '/work' is already mounted, by mounts; use another")],
    ),
    "paths of their own": ({**CHECKPOINT, "data": [{"volume": "checkpoints", "mountPath": "/work2"}]}, []),
}


@pytest.mark.parametrize(("job", "expected"), CASES.values(), ids=CASES)
def test_the_later_mount_has_the_finding(job, expected):
    """What stood there before was right until then."""
    file = make_job_file(**job)
    specs = make_specs(file)
    found = check_mounts(OneJob(specs, file, run_of(specs, file)))
    assert [(item.path, item.message) for item in found] == expected
