"""A mesh that a job's own program writes in numbers is held against the ranks of the run."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_resolved
from trainyard.judge.preflight.job.meshes import check

FILES = [{"source": "train/train.py", "mountPath": "/etc/train"}]


def messages(text: str, **job: Any) -> list[tuple[str, str]]:
    """Return what is said of a job of two nodes with eight GPUs each, and where."""
    fields = {"program": "/etc/train/train.py", "files": FILES, **job}
    run = make_resolved(contents={"train/train.py": text}, **fields)
    return [(finding.path or "", finding.message) for finding in check(run)]


LARGE = 'mesh = init_device_mesh("cuda", (4, 8))\n'
SAID = "train.py makes a mesh of 4 × 8 = 32 devices, but the job has 16 ranks; change one of them"


@pytest.mark.parametrize(
    "text", [LARGE, f"def main():\n    {LARGE}", 'm = dist.init_device_mesh("cuda", mesh_shape=[4, 8])\n']
)
def test_a_mesh_that_is_larger_than_the_run(text):
    """The finding stands at the program's file in the job."""
    assert messages(text) == [("files[0].source", SAID)]


SILENT: dict[str, tuple[str, dict[str, Any]]] = {
    "as many as ranks": (LARGE.replace("4", "2"), {}),
    "fewer, which some ranks are not in": (LARGE.replace("4", "1"), {}),
    "a size that follows from the run": (LARGE.replace("4", "-1"), {}),
    "a variable": (LARGE.replace("4", "nodes"), {}),
    "in a branch": (f"if tensor:\n    {LARGE}", {}),
    "in a function that nobody may call": (f"def big():\n    {LARGE}", {}),
    "two of them": (LARGE * 2, {}),
    "no Python": ("init_device_mesh(((", {}),
    "another program": (LARGE, {"program": "/opt/train.py"}),
    "a run that shrinks and grows": (LARGE, {"min_nodes": 1}),
}


@pytest.mark.parametrize(("text", "job"), SILENT.values(), ids=SILENT)
def test_what_is_not_sure_is_silent(text, job):
    """Only a mesh that every run makes counts."""
    assert messages(text, **job) == []
