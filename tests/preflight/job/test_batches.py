"""Batch sizes in DeepSpeed's settings are held against the ranks of the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from make import make_resolved
from trainyard.judge.preflight.job.batches import check

FILES = [{"source": "train/zero3.json", "mountPath": "/etc/zero"}]
USED = ["--deepspeed_config", "/etc/zero/zero3.json"]


def messages(settings: Any, **job: Any) -> list[tuple[str, str]]:
    """Return what is said of a job of two nodes with eight GPUs each, and where."""
    text = settings if isinstance(settings, str) else json.dumps(settings)
    fields = {"launcher": "deepspeed", "files": FILES, "args": USED, **job}
    run = make_resolved(contents={"train/zero3.json": text}, **fields)
    return [(finding.path or "", finding.message) for finding in check(run)]


def sizes(whole: Any, micro: Any = None, steps: Any = None, **more: Any) -> dict[str, Any]:
    """Return settings of DeepSpeed with these sizes, as far as they are given."""
    found = {"train_batch_size": whole, "train_micro_batch_size_per_gpu": micro, "gradient_accumulation_steps": steps}
    return {name: value for name, value in found.items() if value is not None} | more


def test_sizes_that_do_not_go_together():
    """Three sizes are a product with the ranks, two leave whole steps."""
    product = "zero3.json: train_batch_size is 256, but 2 × 4 steps × 16 ranks = 128; use 128"
    assert messages(sizes(256, 2, 4)) == [("files[0].source", product)]
    multiple = "zero3.json: train_batch_size is 100, which is no multiple of 2 × 16 ranks = 32; use one"
    assert messages(sizes(100, 2)) == [("files[0].source", multiple)]


SILENT: dict[str, tuple[Any, dict[str, Any]]] = {
    "a product": (sizes(128, 2, 4), {}),
    "a multiple": (sizes(128, 2), {}),
    "more nodes": (sizes(256, 2, 4), {"nodes": 4}),
    "one size": (sizes(100), {}),
    "sizes of the program": (sizes("auto", "auto", "auto"), {}),
    "ranks that share a batch": (sizes(256, 2, 4, tensor_parallel={"autotp_size": 8}), {}),
    "ranks that share a batch by arguments": (sizes(256, 2, 4), {"args": [*USED, "--pipe-parallel-size", "2"]}),
    "a file that nothing names": (sizes(256, 2, 4), {"args": []}),
    "no JSON": ("train_batch_size: 256", {}),
    "JSON of something else": ([256, 2, 4], {}),
}


@pytest.mark.parametrize(("settings", "job"), SILENT.values(), ids=SILENT)
def test_sizes_that_may_go_together(settings, job):
    """Where sizes fit, or other things decide, nothing is said."""
    assert messages(settings, **job) == []
