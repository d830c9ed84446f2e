"""The Ray Train program goes on where a driver that was killed has saved, and learns what any gang learns."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys

import pytest

from ranks import PROGRAMS, needs_torch

STEPS = 8

OPTIONS = ("--depth", 10, "--width", 8, "--size", 24, "--images", 50, "--batch", 10, "--piece", 3, "--rate", 0.03)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="ray is not installed: pip install 'ray[train]'"
    ),
    needs_torch,
]


@pytest.fixture
def drive(tmp_path):
    """Start the driver, told what a job with checkpoints tells, and end what is left of its cluster."""
    begun = []

    def start(ranks):
        told = {
            "RUN_NAME": "count-0aaaaaaa",
            "JOB_NAME": "count",
            "CHECKPOINT_DIR": str(tmp_path / "driver"),
            "TRAIN_WORKERS": str(ranks),
            "TRAIN_WORKER_CPUS": "0.1",
            "CUDA_VISIBLE_DEVICES": "",
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        command = [sys.executable, str(PROGRAMS / "ray_train.py"), *map(str, OPTIONS), "--steps", str(STEPS)]
        command += ["--log-every", "1", "--save-every", "3", "--lease-seconds", "0.6"]
        env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"} | told
        begun.append(
            subprocess.Popen(
                command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
            )
        )
        return begun[-1]

    yield start
    for process in begun:
        end(process)


def end(process):
    """End a driver and the cluster that it started, without a word."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def losses(text):
    """The loss of each step; the last word on a step counts."""
    return {int(step): float(loss) for step, loss in re.findall(r"step=(\d+) loss=(\S+)", text)}


def test_a_driver_that_was_killed_goes_on_at_its_checkpoint(drive, train):
    """Ray Train finds the job's checkpoints again, and the images of a step are the same as in ddp.py."""
    first, before = drive(2), ""
    for line in first.stdout:
        before += line
        if "step=4 loss=" in line:
            break
    else:
        pytest.fail(before)
    end(first)
    second, _ = drive(1).communicate(timeout=240)
    assert "resumed step=3" in second, second
    gang = train("ddp.py", (*OPTIONS, "--steps", STEPS, "--log-every", 1, "--lease-seconds", 0.6))
    assert gang.ended() == [0, 0]
    expected = {step: float(loss) for step, loss in gang.losses().items()}
    assert losses(before) | losses(second) == pytest.approx(expected, rel=2e-3)
    assert min(losses(second)) == 4
