"""The test of idle nodes names each GPU that computes wrongly or slowly, and says nothing of good ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ranks import needs_torch
from trainyard.render.parts import burn_in_program

PROGRAM = Path(burn_in_program.__file__)
GOOD = {"lost": 0, "wrong": 0, "rate": 100.0}

FOUND: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "good GPUs": ([GOOD] * 8, []),
    "a slow one": ([GOOD, GOOD, {**GOOD, "rate": 60.0}, GOOD], ["GPU 2 is slow: 60% of the median"]),
    "nearly as fast": ([GOOD, GOOD, {**GOOD, "rate": 90.0}], []),
    "two GPUs have no median": ([GOOD, {**GOOD, "rate": 60.0}], []),
    "wrong products": (
        [GOOD, {**GOOD, "wrong": 3}],
        ["GPU 1 computes wrongly: 3 products differ from the first"],
    ),
    "lost bytes": ([{**GOOD, "lost": 9}], ["GPU 0 does not keep 9 bytes of its memory"]),
    "one that is gone": ([GOOD, {"fault": "fails: CUDA error"}, GOOD, GOOD], ["GPU 1 fails: CUDA error"]),
}


@pytest.mark.parametrize(("found", "lines"), FOUND.values(), ids=FOUND)
def test_verdicts(found: list[dict[str, Any]], lines: list[str]) -> None:
    """Each fault is a line with its GPU."""
    assert burn_in_program.verdicts(found) == lines


def burn(folder: Path, torch: str) -> subprocess.CompletedProcess[str]:
    """Run the program on two processors with a torch of its own."""
    (folder / "torch.py").write_text(torch)
    line = [sys.executable, str(PROGRAM), "--gpus=2", "--minutes=0.001", "--name=n0", "--device=cpu"]
    env = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(line, env=env, capture_output=True, text=True, timeout=60, check=False)


TORCHES: dict[str, tuple[str, int, str]] = {
    "an image without torch": ("raise ImportError('no such')", 2, "the image has no torch that works (no such)"),
    "a process that ends": ("import os\nos._exit(7)", 1, "burn-in: n0: GPU 1 ends its process (7)"),
    "a library that fails": (
        "def full(*a, **k): raise RuntimeError('out of order')\nuint8 = 0",
        1,
        "burn-in: n0: GPU 0 fails: out of order",
    ),
}


@pytest.mark.parametrize(("torch", "code", "words"), TORCHES.values(), ids=TORCHES)
def test_faults(tmp_path: Path, torch: str, code: int, words: str) -> None:
    """A GPU whose process fails or dies is a fault of its own; an image that cannot test is none."""
    ended = burn(tmp_path, torch)
    assert ended.returncode == code, ended
    assert words in ended.stdout


@needs_torch
@pytest.mark.slow
def test_good_processors() -> None:
    """With the real torch, processors are good."""
    line = [sys.executable, str(PROGRAM), "--gpus=2", "--minutes=0.01", "--name=n0", "--device=cpu"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended
    assert "2 GPUs are good" in ended.stdout
