"""The job that the documentation shows is one file: its run comes out, and nothing else changes."""

from __future__ import annotations

import pytest

import page
import recipes
from command import call
from make import CLUSTER, JOB, write_repository

(NAME, TEXT), *_ = page.files(recipes.PAGE, "A job").items()
POOLS = {"h100": CLUSTER["pools"]["gpu"], "cpu": CLUSTER["pools"]["cpu"]}
QUEUES = {"research": {"teams": ["nlp"], "nominalQuota": {"h100": {"gpus": 32}, "cpu": {"nodes": 4}}}}


@pytest.mark.node
@pytest.mark.slow
def test_a_job_is_one_file(tmp_path):
    """Its folder, its line in the ledger and in the index of runs are written; explain and plan speak of it."""
    cluster = {**CLUSTER, "pools": POOLS, "queues": QUEUES}
    other = {"nlp/train": {**JOB, "cluster": "atlas", "pool": "h100"}}
    root = write_repository(tmp_path, clusters={"atlas": cluster}, jobs=other)
    tree = root / "generated"
    assert call(root, "synth").returncode == 0
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    (root / NAME).write_text(TEXT, encoding="utf-8")
    assert call(root, "synth").returncode == 0
    after = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    changed = {path.relative_to(tree).as_posix() for path in after if after[path] != before.get(path)}
    assert before.keys() <= after.keys()
    assert {name.partition("tiny")[0] for name in changed} == {
        "atlas/index/runs/nlp/",
        "atlas/ledger/nlp/",
        "atlas/runs/nlp/",
    }
    assert "1" in call(root, "explain", "nlp/tiny").stdout
