"""The fuzzer tries every sort of case, and finds nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.mark.slow
def test_a_short_run_finds_nothing() -> None:
    """Three hundred cases of a fixed seed are answered without a traceback, each within its second."""
    command = [sys.executable, ROOT / "tools" / "fuzz.py", "--count", "300", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "300 cases" in done.stdout
    assert "0 faults" in done.stdout
