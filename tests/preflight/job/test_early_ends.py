"""Options by which a program ends with 0 before all is trained are reported, where that ends the run."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight.job import shares
from trainyard.judge.preflight.job.early_ends import check
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import OneJob

MEGATRON = ["--micro-batch-size", "2", "--save", "$(CHECKPOINT_DIR)", "--load", "$(CHECKPOINT_DIR)"]
SIGNAL, MINUTES = [*MEGATRON, "--exit-signal-handler"], [*MEGATRON, "--exit-duration-in-mins", "230"]


def one(**job: Any) -> OneJob:
    """Return a job with a checkpoint."""
    file = make_job_file(**{"checkpoint": {"volume": "checkpoints", "size": "10Gi"}, **job})
    specs = make_specs(file)
    return OneJob(specs, file, run_of(specs, file))


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "after some minutes": ({"args": MINUTES}, "args[7]"),
    "at the deadline": ({"args": MINUTES, "maxHours": 3}, ""),
    "another program": ({"args": ["--exit-duration-in-mins", "230"]}, ""),
    "no checkpoint": ({"args": MINUTES, "checkpoint": None}, ""),
    "all pods start again": ({"args": SIGNAL, "nodes": 2}, ""),
    "other pods count as done": ({"args": SIGNAL, "nodes": 2, "kind": "Job"}, "args[6]"),
    "an agent that ends otherwise": ({"args": SIGNAL, "nodes": 1, "kind": "Job"}, ""),
    "no agent": ({"args": SIGNAL, "nodes": 1, "launcher": "python"}, "args[6]"),
}


@pytest.mark.parametrize(("job", "path"), CASES.values(), ids=CASES)
def test_ends_with_zero(job, path):
    """The finding stands at the option."""
    assert [finding.path for finding in check(one(**job))] == ([path] if path else [])


SHARES: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"args": ["--shard", "$(ARRAY_INDEX)", "--of", "24"]}, "args[3]"),
    "too few": ({"args": ["--shard-id=$(ARRAY_INDEX)", "--num-shards=10"]}, "args[1]"),
    "as many": ({"args": ["--shard", "$(ARRAY_INDEX)", "--of", "20"]}, ""),
    "all of them": ({"args": ["--shard", "$(ARRAY_INDEX)", "--of", "$(ARRAY_SIZE)"]}, ""),
    "no share of its own": ({"args": ["--num-shards", "4096", "--seed", "7"]}, ""),
    "another number": ({"args": ["--shard", "$(ARRAY_INDEX)", "--epochs", "24"]}, ""),
    "no array": ({"args": ["--shard", "$(ARRAY_INDEX)", "--of", "24"], "array": None}, ""),
}


@pytest.mark.parametrize(("job", "path"), SHARES.values(), ids=SHARES)
def test_shares_of_an_array(job, path):
    """A number of shares that is not the array's is reported beside an option with the index."""
    array = {"array": {"of": 20}, "nodes": 1, "launcher": "python", **job}
    assert [finding.path for finding in shares.check(one(**array))] == ([path] if path else [])
