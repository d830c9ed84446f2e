"""The page on programs is true: its example keeps the contract that it describes."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys

import pytest

from conftest import ROOT
from make import make_resolved
from trainyard.render.parts import contract

PAGE = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")


@pytest.fixture
def start(tmp_path):
    """Start the page's example on a folder of checkpoints, with signs of life as often as a test waits for them."""
    (text,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert text.count("BEAT = 10\n") == 1
    (tmp_path / "checkpoints").mkdir()
    told = make_resolved("count", checkpoint={"volume": "checkpoints", "size": "1Gi", "keep": 2})
    variables = {name: sized.value for name, sized in told.contract(told.roles[0]).items()}
    begun: list[subprocess.Popen[str]] = []

    def run(steps, *, beat=0.02, **changes):
        (tmp_path / "count.py").write_text(text.replace("BEAT = 10\n", f"BEAT = {beat}\n"))
        env = {**os.environ, **variables, "CHECKPOINT_DIR": str(tmp_path / "checkpoints"), **changes}
        command = [sys.executable, str(tmp_path / "count.py"), str(steps)]
        begun.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return begun[-1]

    yield run
    for item in begun:
        item.kill()
        item.communicate()


def began(process):
    """The step that a run began at, once it holds the folder."""
    line = process.stdout.readline()
    assert line.startswith("begins at "), line + process.stderr.read()
    return int(line.removeprefix("begins at "))


def folders(tmp_path):
    """The steps of all checkpoints, complete or not."""
    return sorted(int(path.name.removeprefix("step-")) for path in (tmp_path / "checkpoints").glob("step-*"))


def test_every_variable_of_the_contract_is_on_the_page():
    """The page's table has exactly what programs are told."""
    checkpoint = {"volume": "checkpoints", "size": "1Gi"}
    run = make_resolved(checkpoint=checkpoint, hangMinutes=15)
    named = re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert named == list(run.contract(run.roles[0]))
    assert set(named) == contract.reserved_variables(run.run)


def test_the_example_saves_as_often_and_keeps_as_much_as_the_job_says(start, tmp_path):
    """A run that ends by itself ends with 0, and leaves the newest complete checkpoints alone."""
    process = start(30, CHECKPOINT_EVERY_MINUTES="0.001")
    assert began(process) == 0
    assert process.wait() == 0
    steps = folders(tmp_path)
    assert len(steps) == 2
    assert steps[-1] == 30
    assert not (tmp_path / "checkpoints" / "lease").exists()


def test_the_example_saves_when_it_is_told_to_end_and_goes_on_there(start, tmp_path):
    """SIGTERM leaves a checkpoint and an exit code that is not 0; the next run begins at it, not at a torn one."""
    first = start(1_000_000)
    assert began(first) == 0
    first.send_signal(signal.SIGTERM)
    assert first.wait() == 143
    (saved,) = folders(tmp_path)
    torn = tmp_path / "checkpoints" / f"step-{saved + 1000}"
    torn.mkdir()
    (torn / "state.json").write_text('{"cou')
    assert began(start(saved + 5)) == saved


def test_the_example_saves_nothing_where_there_is_no_time(start, tmp_path):
    """A save that takes longer than the grace is not begun."""
    process = start(1_000_000, CHECKPOINT_GRACE_SECONDS="0")
    began(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143
    assert folders(tmp_path) == []


def test_two_runs_do_not_write_into_one_folder(start):
    """The next run waits while the last one lives, and begins when it has ended, or gives no signs of life."""
    first = start(1_000_000, beat=0.5)
    assert began(first) == 0
    second = start(1_000_000, beat=0.5, RUN_NAME="count-second")
    assert select.select([second.stdout], [], [], 3.5)[0] == []
    first.kill()
    assert began(second) == 0
