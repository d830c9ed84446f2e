"""The all-reduce by MPI adds up right on real ranks, and says so where it does not."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest

from ranks import PROGRAMS

MPIRUN = shutil.which("mpirun", path="/usr/local/bin:/usr/bin:/bin")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(MPIRUN is None, reason="Open MPI is not installed: apt-get install openmpi-bin"),
    pytest.mark.skipif(
        importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install mpi4py"
    ),
]


def mpirun(*arguments, ranks=3):
    """Run the program on this machine."""
    options = ["--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
    command = [MPIRUN, *options, sys.executable, str(PROGRAMS / "allreduce.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_ranks_add_up_their_arrays():
    """Every size gets its line, and the wire carries 2 (n - 1) / n of what is summed."""
    done = mpirun("--smallest", "8", "--largest", "8Ki", "--times", 2)
    assert done.returncode == 0, done.stderr
    assert "ranks=3 " in done.stdout
    rows = re.findall(r"step=\d+ bytes=(\d+) us=[\d.]+ algbw=([\d.]+) busbw=([\d.]+)", done.stdout)
    assert [int(many) for many, _, _ in rows] == [8 << at for at in range(11)]
    for _, rate, wire in rows:
        assert float(wire) == pytest.approx(float(rate) * 4 / 3, abs=2e-3)
    assert "wrong=0" in done.stdout


def test_another_number_of_ranks_than_expected_is_an_error():
    """A job that came up with too few ranks does not pass."""
    done = mpirun("--largest", "8", "--ranks", 4, ranks=2)
    assert done.returncode != 0
    assert "there are 2 ranks, but --ranks is 4" in done.stderr
