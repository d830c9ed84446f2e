"""Whether the batch sizes in DeepSpeed's settings are those of the ranks that a run has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved

BATCH = Rule(
    id="run/deepspeed-batch",
    title="The global batch of DeepSpeed's settings is micro batch × accumulation steps × ranks.",
    why="DeepSpeed refuses other sizes when it starts, on every rank and at every restart",
    fix="remove one of the three sizes, or change nodes or processesPerNode",
    source="DeepSpeed v0.16.5 deepspeed/runtime/config.py _batch_assertion, _set_batch_related_parameters",
    layer="run",
    may_waive=True,
)

WHOLE, MICRO, STEPS = "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"

APART = ("elasticity", "tensor_parallel", "sequence_parallel_size", "pipeline")
"""Settings with which the ranks that share a batch are not all of them."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield settings among the job's files whose sizes do not go together on this many ranks."""
    job = run.run.job
    said = [text for _, text in texts(job)]
    if job.min_nodes is not None or job.array is not None or any("parallel" in text for text in said):
        return
    ranks = sum(role.nodes * role.processes.value for role in run.specs if role.ranks)
    for index, file in enumerate(job.files):
        name = file.source.rpartition("/")[2]
        named = any(text.endswith(f"/{name}") and "$" not in text for text in said)
        settings = read_settings(run.run.contents.get(file.source, "")) if named else {}
        if settings and not any(name in settings for name in APART) and (wrong := fault(settings, ranks)):
            yield BATCH.at(run.run.source, ("files", index, "source"), f"{name}: {wrong}")


def read_settings(text: str) -> Mapping[str, Any]:
    """Return a file's settings where they are DeepSpeed's, nothing else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and (WHOLE in value or MICRO in value) else {}


def fault(settings: Mapping[str, Any], ranks: int) -> str | None:
    """Return why sizes do not go together; those that are not numbers, such as `auto`, are for the program."""
    whole, micro, steps = (settings.get(name) for name in (WHOLE, MICRO, STEPS))
    if type(whole) is not int or type(micro) is not int or micro < 1:
        return None
    if type(steps) is int and steps > 0:
        product = micro * steps * ranks
        parts = f"{micro} × {steps} steps × {ranks} ranks = {product}"
        return None if whole == product else f"{WHOLE} is {whole}, but {parts}; use {product}"
    if steps is None and whole % (micro * ranks):
        return f"{WHOLE} is {whole}, which is no multiple of {micro} × {ranks} ranks = {micro * ranks}; use one"
    return None
