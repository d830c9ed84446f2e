"""A run says how soon it ends when its ranks wait for one another, where that is known."""

from __future__ import annotations

import pytest

from make import make_run
from trainyard.render.kinds import hangs, resolve

OFF = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}

CASES = {
    "PyTorch's watchdog": ({}, ["10 minutes"]),
    "the watchdog is off": ({"env": OFF, "maxHours": 12}, ["12 hours"]),
    "the watchdog is off, and no deadline": ({"env": OFF}, ["none"]),
    "the default, written": ({"env": {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "3"}}, ["10 minutes"]),
    "one rank": ({"nodes": 1, "gpusPerNode": 1}, []),
    "no GPUs": ({"pool": "cpu", "gpusPerNode": 0}, []),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_a_hung_collective(changes, expected):
    """Only torchrun with several ranks on GPUs has a bound that is known here."""
    changes = {name.replace("maxHours", "max_hours"): value for name, value in changes.items()}
    assert [sized.value for _, sized in hangs.facts(resolve(make_run(**changes)))] == expected
